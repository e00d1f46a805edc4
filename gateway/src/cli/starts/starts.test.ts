import { expect, test } from "bun:test";
import { cliForTest } from "../../testing/cli.ts";
import { startGateway } from "../../testing/gateway.ts";

const toml = `
[triggers.hub]
type = "github"
secret = "very-secret-hook"
start = "echo"
task = "Look at {{issue.title}}"
[notify.team]
type = "slack"
url = "http://127.0.0.1:9/very-secret-address"
`;

test("a schedule is added, shown, run, paused and removed from the command line", async () => {
  await using gateway = await startGateway();
  await using cli = await cliForTest({ env: { GATEWAY_PORT: new URL(gateway.url).port } });
  expect(await cli.run("schedules")).toBe(0);
  expect(cli.said()).toContain("There are no schedules.");
  const when = ["--cron", "0 8 * * MON-FRI", "--time-zone", "Europe/Berlin", "--start", "echo", "--budget-usd", "0.5"];
  expect(await cli.run("schedules", "add", "report", "Say hello", ...when)).toBe(0);
  expect(cli.out()).toMatch(/report {2}· {2}0 8 \* \* MON-FRI Europe\/Berlin {2}· {2}echo {2}· {2}next 20\d\d-/);
  expect(await cli.run("schedules", "add", "report", "Again", ...when)).toBe(1);
  expect(cli.said()).toContain("There is a schedule report.");
  expect(await cli.run("schedules", "add", "wrong", "x", "--cron", "every day", "--start", "echo")).toBe(2);
  expect(cli.said()).toContain('"every day" is not a cron expression of five fields');
  expect(await cli.run("schedules", "run-now", "report")).toBe(0);
  expect(cli.out()).toMatch(/Started run \S+\. `bun manyhands runs show/);
  expect(await cli.run("schedules", "pause", "report")).toBe(0);
  expect(await cli.run("schedules", "show", "report")).toBe(0);
  expect(cli.out()).toMatch(/paused {2}· {2}last by-hand[\s\S]*Say hello\n.*by-hand {2}· {2}run /);
  expect(await cli.run("schedules", "resume", "report")).toBe(0);
  expect(await cli.run("schedules", "remove", "report")).toBe(0);
  expect(await cli.run("schedules", "show", "report")).toBe(1);
  expect(cli.said()).toContain('There is no schedule "report".');
});

test("triggers are listed with the address their senders post to, and nothing shows a secret", async () => {
  await using gateway = await startGateway({ toml });
  await using cli = await cliForTest({ env: { GATEWAY_PORT: new URL(gateway.url).port } });
  expect(await cli.run("triggers")).toBe(0);
  expect(cli.out()).toContain(`hub  ·  github  ·  echo  ·  ${gateway.url}/hooks/hub\n`);
  expect(await cli.run("triggers", "pause", "hub")).toBe(0);
  expect(await cli.run("triggers", "show", "hub", "--json")).toBe(0);
  expect(cli.out()).toContain('"paused": true');
  expect(await cli.run("notify")).toBe(0);
  expect(cli.out()).toContain("team  ·  slack\n");
  expect(await cli.run("notify", "test", "team")).toBe(1);
  expect(cli.said()).toContain("team was not reached");
  expect(cli.out() + cli.said()).not.toContain("very-secret");
});
