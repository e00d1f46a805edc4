import { argv, env, exit } from "node:process";

/**
 * The command that the suite starts as the client under test: has the client that listens at the
 * first address use the server at the second, and ends when it has.
 */
const [client = "", url] = argv.slice(2);
const { MCP_CONFORMANCE_SCENARIO: scenario = "", MCP_CONFORMANCE_CONTEXT: context = "{}" } = env;
const used = await fetch(client, { method: "POST", body: JSON.stringify({ url, scenario, context }) });
console.error(await used.text());
exit(used.ok ? 0 : 1);
