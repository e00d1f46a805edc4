import { afterEach, beforeEach, expect, mock, spyOn, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { downloadedBrowser } from "./browser-download.ts";
import * as commands from "./command.ts";
import { installCommand } from "./packages.ts";
import { programs } from "./programs.ts";
import { isWorthTelling, setupTable } from "./report.ts";
import { setUp } from "./setup.ts";

const root = resolve(import.meta.dir, "../../..");
const ok = { exitCode: 0, output: "" };
const [bun, linux] = [process.execPath, process.platform === "linux"];

/** The commands that ran, and what they say; a command that is not named succeeds. */
let ran: Parameters<typeof commands.runProgram>[] = [];
let answers: [command: RegExp, ...outcomes: commands.ProgramOutcome[]][] = [];
/** What this machine has. */
let present: string[] = [];
let folder = "";
const { HOME, PLAYWRIGHT_BROWSERS_PATH } = process.env;
const before = { HOME, PLAYWRIGHT_BROWSERS_PATH };

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "manyhands-downloads-"));
  [ran, answers, present] = [[], [], ["bwrap", "socat", "rg", "git", "python3"]];
  process.env.HOME = folder;
  delete process.env.PLAYWRIGHT_BROWSERS_PATH;
  spyOn(Bun, "which").mockImplementation((name) => (present.includes(name) ? `/bin/${name}` : null));
  spyOn(process, "getuid").mockReturnValue(0);
  spyOn(commands, "runProgram").mockImplementation(async (...given) => {
    ran.push(given);
    const [, ...outcomes] = answers.find(([command]) => command.test(given[0].join(" "))) ?? [];
    const times = ran.filter(([argv]) => Bun.deepEquals(argv, given[0])).length;
    return outcomes[Math.min(times, outcomes.length) - 1] ?? ok;
  });
});
afterEach(async () => {
  mock.restore();
  for (const [name, value] of Object.entries(before))
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  await rm(folder, { recursive: true });
});

async function run(asked: Partial<Parameters<typeof setUp>[0]> = {}) {
  const said: string[] = [];
  const given = { root, workspace: false, system: false, browser: false, ...asked };
  return { ...(await setUp({ ...given, say: (line) => void said.push(line) })), said };
}

test("the packages are those of the lock file, asked for twice in two minutes each, and why they are not there is said", async () => {
  const command = [[bun, "install", "--frozen-lockfile"], { cwd: root, timeoutMs: 120_000 }];
  expect((await run({ workspace: true })).packages).toBeUndefined();
  expect(ran).toEqual([command] as never);
  answers = [[/install/, { exitCode: 1, output: "a hiccup" }, ok]];
  ran = [];
  expect((await run({ workspace: true })).packages).toBeUndefined();
  expect(ran).toEqual([command, command] as never);
  for (const [output, reason] of [
    ["no such version", "no such version"],
    ["", "bun install took longer than two minutes."],
  ] as const) {
    answers = [[/install/, { exitCode: null, output }]];
    // Without the packages there is nothing that could download a browser.
    const { packages, said } = await run({ workspace: true, browser: true });
    expect([packages, said]).toEqual([{ reason }, []]);
  }
  ran = [];
  await run();
  expect(ran).toEqual([]);
});

test.skipIf(!linux)(
  "a browser that is missing is downloaded with the Playwright that is there, for this user, if it is asked for",
  async () => {
    const { said, failure } = await run({ browser: true });
    expect([said, failure]).toEqual([["Downloading Chromium …"], undefined]);
    const [[[program, cli = "", ...args], options] = [[]], ...more] = ran;
    expect([program, args, options, more]).toEqual([
      bun,
      ["install", "--only-shell", "chromium"],
      { cwd: root, timeoutMs: 240_000 } as never,
      [],
    ]);
    expect([cli.endsWith("/playwright/cli.js"), await Bun.file(cli).exists()]).toEqual([true, true]);
    for (const [output, why] of [
      ["first line\nno network", "first line\nno network"],
      ["", "It timed out."],
    ] as const) {
      answers = [[/cli\.js/, { exitCode: null, output }]];
      const outcome = await run({ browser: true });
      expect([outcome.failure, isWorthTelling(outcome)]).toEqual([why, true]);
      expect(setupTable(outcome)).toContain(`  Installing failed: ${why.split("\n").at(-1)}`);
    }
    present.push("google-chrome");
    ran = [];
    expect([(await run({ browser: true })).said, ran]).toEqual([[], []]);
  },
);

test.skipIf(!linux)("a browser counts as downloaded when all of it is there, in Playwright's folder", async () => {
  const chromium = programs.find(({ name }) => name === "chromium");
  const cache = join(folder, ".cache/ms-playwright");
  await Bun.write(join(cache, "chromium-1/chrome"), "");
  expect(downloadedBrowser()).toBeUndefined();
  await Bun.write(join(cache, "chromium-2/INSTALLATION_COMPLETE"), "");
  expect(downloadedBrowser()).toBe(join(cache, "chromium-2"));
  const { findings, said } = await run({ browser: true });
  expect(findings.find(({ program }) => program === chromium)?.path).toBe(join(cache, "chromium-2"));
  expect(said).toEqual([]);
  process.env.PLAYWRIGHT_BROWSERS_PATH = join(folder, "elsewhere");
  expect(downloadedBrowser()).toBeUndefined();
  const shell = "elsewhere/chromium_headless_shell-3";
  await Bun.write(join(folder, shell, "INSTALLATION_COMPLETE"), "");
  expect(downloadedBrowser()).toBe(join(folder, shell));
});

test.skipIf(!linux)(
  "what Debian's packages have is installed at once, the browser by itself, and then nothing else is downloaded",
  async () => {
    present = ["apt-get", "bwrap", "socat", "git"];
    answers = [[/install .*chromium/, { exitCode: 0, output: "installed" }]];
    const arrive = spyOn(commands, "runProgram").getMockImplementation();
    spyOn(commands, "runProgram").mockImplementation(async (...given) => {
      present.push(...given[0].filter((one) => ["python3", "chromium-headless-shell"].includes(one)));
      present.push(...given[0].filter((one) => one === "ripgrep").map(() => "rg"));
      return (await arrive?.(...given)) ?? ok;
    });
    // Only who starts or sets up the system has it changed.
    expect([(await run()).said, ran]).toEqual([[], []]);
    const { said, findings, failure } = await run({ system: true, browser: true });
    expect(said).toEqual([expect.stringMatching(/^Installing ripgrep, python3, chromium(?:, cjk font)? …$/)]);
    const installed = findings.filter(({ state }) => state === "installed").map(({ program }) => program.name);
    expect([installed, failure]).toEqual([["ripgrep", "python3", "chromium"], undefined]);
    const patient = ["-o", "Acquire::http::Timeout=15", "-o", "Acquire::Retries=1", "-o", "DPkg::Lock::Timeout=60"];
    const first = ["apt-get", "-qq", ...patient];
    const install = [...first, "install", "-y", "--no-install-recommends"];
    const how = (timeoutMs: number) => ({ cwd: root, env: { DEBIAN_FRONTEND: "noninteractive" }, timeoutMs });
    expect(ran.map(([argv, options]) => [argv.filter((one) => !one.startsWith("fonts-")), options])).toEqual([
      [["dpkg", "--configure", "-a"], how(60_000)],
      [[...first, "update"], how(60_000)],
      [[...install, "ripgrep", "python3"], how(110_000)],
      [[...install, "chromium-headless-shell"], how(240_000)],
    ] as never);
  },
);

test.skipIf(!linux)(
  "of what failed, the first is said: the lists before packages, these before a browser",
  async () => {
    present = ["apt-get", "bwrap", "socat", "git", "rg"];
    const failing = (command: RegExp, output: string): (typeof answers)[number] => [command, { exitCode: 100, output }];
    const all = [
      failing(/ update$/, "no lists"),
      failing(/python3/, "no Python"),
      failing(/install .*chromium-headless-shell$/, "no browser"),
      failing(/cli\.js/, "no download"),
    ];
    for (const [at, why] of ["no lists", "no Python", "no browser"].entries()) {
      answers = all.slice(at);
      expect((await run({ system: true, browser: true })).failure).toBe(why);
    }
    // Old lists are no failure while what they name is there.
    answers = all.slice(0, 1);
    expect((await run({ system: true })).failure).toBeUndefined();
    answers = all.slice(3);
    expect((await run({ system: true, browser: true })).failure).toBe("no download");
    expect(ran.filter(([argv]) => argv.at(-1) === "chromium").length).toBeGreaterThan(0);
  },
);

test("each system's command names its own packages, with sudo where only root installs", async () => {
  const some = programs.filter(({ name }) => ["bubblewrap", "python3"].includes(name));
  const commandsOf: [manager: string, command: string, asUser: string][] = [
    ["apt-get", "apt-get install -y --no-install-recommends bubblewrap python3", "sudo "],
    ["dnf", "dnf install -y bubblewrap python3", "sudo "],
    ["pacman", "pacman -S --noconfirm bubblewrap python", "sudo "],
    ["apk", "apk add bubblewrap python3", "sudo "],
    ["brew", "brew install python3", ""],
  ];
  for (const [manager, command, asUser] of commandsOf) {
    // Homebrew is the last choice.
    present = [manager, "brew"];
    spyOn(process, "getuid").mockReturnValue(0);
    expect(installCommand(some)).toBe(command);
    spyOn(process, "getuid").mockReturnValue(1_000);
    expect(installCommand(some)).toBe(asUser + command);
    // Who is not root with apt-get is only told.
    for (const user of manager === "apt-get" ? [1_000] : [1_000, 0]) {
      spyOn(process, "getuid").mockReturnValue(user);
      const { said, advice } = await run({ system: true });
      expect([said, ran, advice]).toEqual([[], [], expect.stringContaining(" chromium")]);
    }
  }
  expect(installCommand([])).toBeUndefined();
  present = [];
  expect(installCommand(some)).toBeUndefined();
});
