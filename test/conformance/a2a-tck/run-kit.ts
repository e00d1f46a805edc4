import { parseArgs } from "node:util";
import { startKitAgent } from "./kit-agent.ts";
import { kitFaults } from "./kit-faults.ts";
import { startKitFlow, startKitGateway } from "./kit-gateway.ts";
import type { KitCapabilities, KitServer } from "./kit-server.ts";

/**
 * Runs the a2a-tck kit, unpatched, against our servers and prints a table:
 * `bun test/conformance/a2a-tck/run-kit.ts KIT --python PYTHON`, where KIT is a checkout of its
 * branch `1.0-dev`, or of `0.3.x` with `--a2a 0.3`, and PYTHON has the packages it imports. Exits
 * with 1 if a test fails that is not in `kitFaults`.
 */
const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    python: { type: "string", default: "python3" },
    a2a: { type: "string", default: "1.0" },
    only: { type: "string" },
    pytest: { type: "string", multiple: true },
  },
});
const [kit] = positionals;
if (kit === undefined) {
  const options = "[--python PYTHON] [--a2a 1.0|0.3] [--only agent|gateway|flow]";
  console.error(`Usage: bun test/conformance/a2a-tck/run-kit.ts KIT ${options}`);
  process.exit(2);
}

type Start = (capabilities: KitCapabilities) => Promise<KitServer>;

const subjects: Readonly<Record<string, Start>> = {
  agent: startKitAgent,
  gateway: beforeAgent(startKitGateway),
  flow: beforeAgent(startKitFlow),
};

/** A server before an agent of its own, which streams to it in any case and asks for nothing. */
function beforeAgent(start: (capabilities: KitCapabilities, agent: KitServer) => Promise<KitServer>): Start {
  return async (capabilities) => {
    const agent = await startKitAgent({
      ...capabilities,
      streaming: true,
      extendedCard: false,
      requiredExtensions: [],
    });
    const server = await start(capabilities, agent);
    return {
      url: server.url,
      grpc: server.grpc,
      async [Symbol.asyncDispose]() {
        await server[Symbol.asyncDispose]();
        await agent[Symbol.asyncDispose]();
      },
    };
  };
}

const on = { streaming: true, push: true, extendedCard: true, requiredExtensions: [] };
const off = { streaming: false, push: false, extendedCard: false, requiredExtensions: [] };
/** All other tests of the kit activate no extension, and so fail. */
const required = { ...on, requiredExtensions: ["urn:a2a:tck:required-extension"] };

/** The tests of each version of the kit, and what it expects of a server beyond A2A. */
const kits = {
  "1.0": {
    tests: (url: string) => ["tests/compatibility/", `--sut-host=${url}`],
    server: { cardStyle: "strict", otherwise: "tck-complete-task" },
    offers: [
      { name: "on", capabilities: on, only: [] },
      { name: "off", capabilities: off, only: [] },
      { name: "on, and a required extension", capabilities: required, only: ["-k", "ExtensionRequired"] },
    ],
  },
  // It reads one card for every version, and sends tasks further messages and cancels them.
  "0.3": {
    tests: (url: string) => [
      "tests/mandatory/",
      "tests/optional/quality/",
      `--sut-url=${url}`,
      "--test-scope=all",
      "--transports=jsonrpc",
    ],
    server: { cardStyle: "merged", otherwise: "tck-input-required" },
    offers: [{ name: "on", capabilities: { ...on, extendedCard: false }, only: [] }],
  },
} as const;
const chosen = kits[values.a2a as keyof typeof kits];

type Counts = { passed: number; skipped: number; faults: string[]; failed: string[] };

/** Runs the kit's tests against a server, and counts how they went. */
async function tested(url: string, cwd: string, only: readonly string[]): Promise<Counts> {
  const args = ["-m", "pytest", ...chosen.tests(url), "-p", "no:cacheprovider", "-q", "--tb=no"];
  const child = Bun.spawn([values.python, ...args, "-rpfE", ...only, ...(values.pytest ?? [])], {
    cwd,
    env: { ...process.env, COLUMNS: "2000" },
    stderr: "inherit",
  });
  const text = await new Response(child.stdout).text();
  const lines = text.split("\n");
  const failures = lines.filter((line) => /^(FAILED|ERROR) tests\//.test(line));
  const isFault = (line: string) => kitFaults.some(({ failure }) => failure.test(line));
  const passed = lines.filter((line) => line.startsWith("PASSED tests/")).length;
  if (passed === 0) throw new Error(`The kit did not run:\n${text.slice(-2_000)}`);
  return {
    passed,
    skipped: Number(/, (\d+) skipped.* in [\d.]+s/.exec(text)?.[1] ?? 0),
    faults: failures.filter(isFault),
    failed: failures.filter((line) => !isFault(line)),
  };
}

const unexpected: string[] = [];
console.log("| server | optional capabilities | passed | failed | failed by the kit's faults | skipped |");
console.log("| --- | --- | --- | --- | --- | --- |");
for (const [name, start] of Object.entries(subjects)) {
  if (values.only !== undefined && values.only !== name) continue;
  for (const offer of chosen.offers) {
    await using server = await start({ ...offer.capabilities, ...chosen.server });
    const { passed, skipped, faults, failed } = await tested(server.url, kit, offer.only);
    console.log(`| ${name} | ${offer.name} | ${passed} | ${failed.length} | ${faults.length} | ${skipped} |`);
    unexpected.push(...failed.map((line) => `${name}, capabilities ${offer.name}: ${line}`));
  }
}
for (const line of unexpected) console.log(line);
process.exit(unexpected.length === 0 ? 0 : 1);
