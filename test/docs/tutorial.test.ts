import { afterAll, beforeAll, expect, test } from "bun:test";
import { chmod, cp, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { freePort } from "manyhands/internal/http/free-port";
import { bareEnvironment } from "manyhands/internal/testing/machine/bare-environment";
import { type ScriptedModel, startScriptedModel } from "manyhands/testing";
import { type Block, blocksOf } from "./markdown.ts";
import { shows } from "./shows.ts";
import { tutorialReply } from "./tutorial-model.ts";

const root = resolve(import.meta.dir, "../..");
const examples = join(root, "docs/examples");
/** In the order in which readers take them. */
const order = ["first-task", "first-agent", "first-tool", "first-flow", "first-mcp-server"];

const files = await textsOf(examples, "*.{ts,toml}");
const pages = await textsOf(join(root, "docs/tutorial"), "*.md");

async function textsOf(folder: string, pattern: string): Promise<Map<string, string>> {
  const names = [...new Bun.Glob(pattern).scanSync({ cwd: folder })];
  return new Map(
    await Promise.all(names.map(async (name) => [name, await Bun.file(join(folder, name)).text()] as const)),
  );
}

function blocks(page: string): Block[] {
  return blocksOf(pages.get(`${page}.md`) ?? "");
}

const printedBlocks = [...order.flatMap(blocks), ...blocksOf(await Bun.file(join(root, "README.md")).text())];

test("the tutorial has the pages tested here, and the examples exist", () => {
  expect([...pages.keys()].toSorted()).toEqual(order.map((page) => `${page}.md`).toSorted());
  expect(files.size).toBeGreaterThan(5);
});

test("every TypeScript block of the tutorial and the README is an example file as it is", () => {
  const texts = [...files.values()].map((text) => text.trimEnd());
  const printed = printedBlocks.filter(({ language }) => language === "ts");
  expect(printed.length).toBeGreaterThan(5);
  expect(printed.filter(({ text }) => !texts.includes(text)).map(({ text }) => text.slice(0, 80))).toEqual([]);
});

test("every example is printed, except tests that show nothing new", () => {
  const printed = printedBlocks.map(({ text }) => text);
  const silent = [...files].filter(([, text]) => !printed.includes(text.trimEnd())).map(([name]) => name);
  expect(silent.toSorted()).toEqual(["guide.test.ts", "opening-hours.test.ts", "quick-start.test.ts"]);
});

let folder: string;
let model: ScriptedModel;
let service: Bun.Server<undefined>;
let env: Record<string, string>;

/** A folder as a reader has it: the examples, and the packages that they import. */
beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "manyhands-tutorial-")));
  await chmod(folder, 0o711);
  await cp(examples, join(folder, "docs/examples"), { recursive: true });
  await mkdir(join(folder, "node_modules/@modelcontextprotocol"), { recursive: true });
  for (const name of ["manyhands", "zod", "@modelcontextprotocol/server"])
    await symlink(await realpath(join(root, "docs/node_modules", name)), join(folder, "node_modules", name));
  model = await startScriptedModel(tutorialReply);
  service = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response("rome: ⛅️ +18°C") });
  env = {
    ...bareEnvironment(),
    HOME: folder,
    BUN: process.execPath,
    MANYHANDS: join(root, "gateway/src/main.ts"),
    MANYHANDS_CONFIG: "docs/examples/manyhands.toml",
    OPENAI_BASE_URL: model.url,
    MANYHANDS_MODEL: "scripted",
    ...ownPorts(),
    WEATHER_URL: service.url.origin,
    MANYHANDS_EGRESS_ALLOW: service.url.host,
  };
});
afterAll(async () => {
  await service.stop(true);
  await model.close();
  await rm(folder, { recursive: true });
});

/** A reader has no other system running; this machine may. */
function ownPorts(): Record<string, string> {
  const names = ["GATEWAY_PORT", "MANUS_PORT", "BROWSER_PORT", "SWE_PORT", "DATA_ANALYSIS_PORT"];
  return Object.fromEntries(names.map((name) => [name, `${freePort()}`]));
}

/** The tutorial's `bun` commands, for a folder that is not a checkout. */
const prelude = `bun() {
  if [ "$1" = manyhands ]; then shift; "$BUN" "$MANYHANDS" "$@"; else "$BUN" "$@"; fi
}
`;

async function answerOf(commands: string): Promise<string> {
  const child = Bun.spawn(["bash", "-ec", prelude + commands], {
    cwd: folder,
    env,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const [out, said] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  const exitCode = await child.exited;
  if (exitCode !== 0) throw new Error(`${commands}\nended with ${exitCode}:\n${out}\n${said}`);
  return out;
}

test.each(order)("the commands of %s give the output the page shows", async (page) => {
  const all = blocks(page);
  const settings = join(folder, "docs/examples/manyhands.toml");
  await writeFile(settings, files.get("manyhands.toml") ?? "");
  for (const [index, block] of all.entries()) {
    // Settings on a page apply to the commands after them.
    if (block.language === "toml") await writeFile(settings, withModel(block.text));
    if (block.language !== "sh") continue;
    const out = await answerOf(block.text);
    const shown = all[index + 1];
    expect({ line: block.line, language: shown?.language }).toEqual({ line: block.line, language: "text" });
    if (!shows(shown?.text ?? "", out)) throw new Error(`${basename(page)}, line ${block.line} answers:\n${out}`);
  }
});

/** The settings of the block for the test's system: its only model is the scripted one. */
function withModel(text: string): string {
  return text.replace(/^model = .*$/m, 'model = "scripted"');
}
