import { afterAll, expect, test } from "bun:test";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "./config.ts";
import { readSettings } from "./settings/settings.ts";

const cwd = await mkdtemp(join(tmpdir(), "manyhands-conflicts-"));
afterAll(() => rm(cwd, { recursive: true }));

async function refusal(toml: string, env: Record<string, string> = {}): Promise<unknown> {
  await writeFile(join(cwd, "manyhands.toml"), toml);
  return loadConfig({ cwd, env }).then(
    () => "accepted",
    (error: unknown) => error,
  );
}

const start = 'start = "swe"\ntask = "t"\n';
test.each<[key: string, toml: string]>([
  ["server.host", '\nserver.host = "0.0.0.0"'],
  ["gateway.public_url", '\ngateway.public_url = "https://team.example"'],
  ["agents.swe.public_url", '\nagents.swe.public_url = "https://team.example"'],
  ["[server.tls]", '\nserver.tls.cert = "a"'],
  ["[auth.jwt] needs", '\nauth.jwt.issuer = "i"'],
  ["[auth.jwt] is set", '\nauth.jwt = { issuer = "i", audience = "a", jwks_file = "f" }'],
  ["[auth.oidc]", '\nauth.oidc.client_id = "i"'],
  ["engine.url", '\nengine.url = "postgres://h/d"'],
  ["engine.kind", '\nengine.kind = "postgres"'],
  ["artifacts.bucket", '\nartifacts.bucket = "b"'],
  ["[agents.swe] has both instructions", '\nagents.swe.instructions = "a"\nagents.swe.instructions_file = "f"'],
  ["[agents.swe] delegates", '\nagents.swe.delegates = ["nobody"]'],
  ["[agents.swe.auth]", '\nagents.swe.auth.cert = "a"'],
  ["[agents.mine]", "\nagents.mine.port = 1"],
  ["[agents.Mine]", '\nagents.Mine.entry = "a.ts"'],
  ["[flows.mine]", '\nflows.mine.title = "Mine"'],
  ["browser.user_data_dir is only used", '\nbrowser.user_data_dir = "/home/me/chrome"'],
  ["browser.context", '\nbrowser.context = "own"'],
  [
    'browser.context = "own" needs one of',
    '\nbrowser.context = "own"\nbrowser.cdp_url = "http://127.0.0.1:1"\nbrowser.user_data_dir = "/home/me/chrome"',
  ],
  ['browser.context = "own" needs browser.cdp_url', '\nbrowser.context = "own"\nbrowser.wss_url = "ws://127.0.0.1:1"'],
  [
    "browser.profile is for fresh contexts",
    '\nbrowser.profile = "main"\nbrowser.context = "own"\nbrowser.cdp_url = "http://127.0.0.1:1"',
  ],
  ["browser.geolocation", "\nbrowser.geolocation.latitude = 52.5"],
  ["browser.geolocation", "\nbrowser.geolocation.longitude = 13.4"],
  ["[git]", '\ngit.a.host = "code.example"\ngit."code.example".kind = "git"'],
  ["[secrets.shop]", '\nsecrets.shop.sites = ["https://shop.example"]'],
  ["[triggers.push]", `[triggers.push]\ntype = "github"\n${start}`],
  ["[notify.team]", '[notify.team]\ntype = "slack"'],
])("what is wrong with %s is told with the line of the file", async (what, toml) => {
  const error = await refusal(toml);
  expect(error).toMatchObject({ code: "config_invalid", message: expect.stringContaining(`, line 2: ${what}`) });
});

test("what is wrong with a variable is told with its name", async () => {
  expect(await refusal("", { HOST: "0.0.0.0" })).toMatchObject({
    message: expect.stringContaining("HOST: server.host is 0.0.0.0"),
  });
  expect(await refusal("", { MANYHANDS_AUTH_OIDC_CLIENT_ID: "i" })).toMatchObject({
    message: expect.stringContaining("MANYHANDS_AUTH_OIDC_CLIENT_ID: [auth.oidc] needs issuer"),
  });
});

test.each<[key: string, value: string, allowed: string]>([
  ["browser.cdp_url", '"nonsense"', "a URL that begins with http://, https://, ws:// or wss://"],
  ["browser.wss_url", '"127.0.0.1:1"', "a URL that begins with http://, https://, ws:// or wss://"],
  ["browser.proxy.server", '"socks5://proxy.example:1"', 'an HTTP proxy, such as "http://proxy.example:3128"'],
  ["browser.locale", '"no language"', 'a language such as "en-US"'],
  ["browser.trusted_hosts", '["https://shop.example"]', 'a list, each a host as in a URL, or "*.example.com"'],
  ["sandbox.allow_domains", '["https://pypi.org"]', 'a list, each a host as in a URL, or "*.example.com"'],
  ["egress.allow", '["*.example.com"]', 'a list, each a host as in a URL: "intranet.example"'],
])("%s cannot be %s, which is told at once, with what is allowed", async (key, value, allowed) => {
  expect(await refusal(`\n${key} = ${value}`)).toMatchObject({
    message: expect.stringContaining(`, line 2: ${key} cannot be ${value}. Allowed: ${allowed}`),
  });
});

test("a proxy may be a host and a port, and a language written as systems write it", async () => {
  expect(await refusal('[browser]\nlocale = "de_DE"\nproxy.server = "localhost:3128"\n')).toBe("accepted");
});

test("a variable sets a flow's options, and all the tables of principals or families, as JSON", async () => {
  const toml = '[limits.principals.ann]\nruns_at_once = 1\n[flows.pair]\nflow = "loop"\noptions.agent = "swe"\n';
  await writeFile(join(cwd, "manyhands.toml"), toml);
  const env = {
    MANYHANDS_FLOWS_PAIR_OPTIONS: '{"maxIterations": 2}',
    MANYHANDS_LIMITS_PRINCIPALS: '{"bo@team.example": {"runs_at_once": 3}}',
    MANYHANDS_LLM_FAMILIES: '{"own-": {"vision": true}}',
  };
  const { sections, origins } = await readSettings({ cwd, env });
  expect(sections.flows.pair).toMatchObject({ flow: "loop", options: { maxIterations: 2 } });
  expect(sections.limits.principals).toEqual({ "bo@team.example": { runs_at_once: 3 } });
  expect(sections.llm.families).toEqual({ "own-": { vision: true } });
  expect([...origins]).toEqual([
    ["flows.pair.flow", "manyhands.toml, line 4"],
    ["flows.pair.options", "MANYHANDS_FLOWS_PAIR_OPTIONS"],
    ["limits.principals", "MANYHANDS_LIMITS_PRINCIPALS"],
    ["llm.families", "MANYHANDS_LLM_FAMILIES"],
  ]);
});

test.each([
  ["MANYHANDS_FLOWS_PAIR_OPTIONS", "nonsense", "flows.pair.options", "a table of the flow's options; in a variable"],
  ["MANYHANDS_LIMITS_PRINCIPALS", "[1]", "limits.principals", "tables; in a variable, as JSON"],
  ["MANYHANDS_LLM_FAMILIES", '{"own-": {"sight": true}}', "llm.families", "tables; in a variable, as JSON"],
])("%s cannot be %s", async (variable, value, key, allowed) => {
  expect(await refusal("", { [variable]: value })).toMatchObject({
    message: expect.stringMatching(new RegExp(`^${variable}: ${key} cannot be .*\\. Allowed: ${allowed}`)),
  });
});
