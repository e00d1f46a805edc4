import { afterAll, expect, test } from "bun:test";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { loadConfig } from "manyhands/internal/config/config";
import { hasOpenssl, testAuthority } from "manyhands/internal/testing/certificates";
import { sectionsSchema } from "../../shared/src/config/sections/sections.ts";
import { variableFor } from "../../shared/src/config/settings/environment.ts";
import { fixedKeys, keyTree, nodeAt } from "../../shared/src/config/settings/key-tree.ts";
import { blocksOf, codesIn, readGuide, rowsOf } from "./markdown.ts";

const guide = await readGuide("configuration.md");
const root = keyTree(sectionsSchema);
const keys = fixedKeys(root).map(({ path }) => path.join("."));
const folder = await mkdtemp(join(tmpdir(), "manyhands-docs-"));
afterAll(() => rm(folder, { recursive: true }));

/**
 * The rows of the table by key: several keys may share a row, and a `*` at the end covers all that
 * follow.
 */
const documented = rowsOf(guide)
  .filter((cells) => cells.length === 5 && /^`[a-z]/.test(cells[0] ?? ""))
  .flatMap(([names, , fallback, variables]) => {
    const variable = codesIn(variables);
    return codesIn(names).map((name, index) => ({
      key: name.replace("agents.NAME.", "agents.manus."),
      fallback: codesIn(fallback)[0],
      variable: variable[index],
    }));
  });

function rowOf(key: string) {
  return documented.find((row) => (row.key.endsWith("*") ? key.startsWith(row.key.slice(0, -1)) : row.key === key));
}

test("the tables these tests walk are not empty", () => {
  expect(keys.length).toBeGreaterThan(80);
  expect(documented.length).toBeGreaterThan(60);
  expect(blocksOf(guide).filter(({ language }) => language === "toml").length).toBeGreaterThan(4);
});

test("every key of the schema has its row, with the variable that sets it", () => {
  const own = keys.filter((key) => !/^agents\.(browser|swe|data-analysis)\./.test(key));
  const wrong = own.flatMap((key) => {
    const row = rowOf(key);
    if (row === undefined) return [`${key} is missing`];
    const wanted = variableFor(key.split("."));
    const said = row.variable?.replace("*", wanted.slice(row.variable.length - 1));
    return said === wanted ? [] : [`${key} says ${said}, but it is ${wanted}`];
  });
  expect(wrong).toEqual([]);
});

test("every row is about a key that exists", () => {
  const unknown = documented.filter(({ key }) => nodeAt(root, key.replace(/\.\*$/, "").split(".")) === undefined);
  expect(unknown).toEqual([]);
});

test("the agents have the same keys, so that one row covers all", () => {
  const agents = nodeAt(root, ["agents"])?.properties ?? {};
  const shapes = Object.values(agents).map((node) => fixedKeys(node).map(({ path }) => path.join(".")));
  for (const shape of shapes) expect(shape).toEqual(shapes[0] ?? []);
  expect(nodeAt(root, ["llm"])?.named).toBeDefined();
});

test("the defaults of the table are those of the schema", () => {
  const defaults: unknown = sectionsSchema.parse({});
  const wrong = keys.flatMap((key) => {
    const value = key
      .split(".")
      .reduce<unknown>((at, name) => (at as Record<string, unknown> | undefined)?.[name], defaults);
    const row = rowOf(key);
    if (value === undefined || row === undefined || row.key.endsWith("*")) return [];
    const shown = typeof value === "string" ? value : JSON.stringify(value);
    return row.fallback === shown ? [] : [`${key} says ${row.fallback}, but it is ${shown}`];
  });
  expect(wrong).toEqual([]);
});

test("every TOML example on every page loads", async () => {
  const docs = resolve(import.meta.dir, "../../docs");
  const pages = [...new Bun.Glob("{tutorial,how-to,reference}/*.md").scanSync({ cwd: docs })];
  expect(pages.length).toBeGreaterThan(10);
  // The certificates that an example names.
  if (hasOpenssl) await (await testAuthority(folder)).issue("agents.example.com", { names: "DNS:agents.example.com" });
  else console.warn("skipped: the example of [server.tls], because openssl is not installed");
  for (const page of pages)
    for (const { language, text, line } of blocksOf(await Bun.file(join(docs, page)).text())) {
      if (language !== "toml" || (!hasOpenssl && text.includes("[server.tls]"))) continue;
      await writeFile(join(folder, "example.toml"), text);
      // A block may name the model of an endpoint from an earlier block.
      const { notes } = await loadConfig({
        cwd: folder,
        file: "example.toml",
        env: {
          OPENAI_API_KEY: "none",
          MANYHANDS_TOKEN: "t".repeat(32),
          AWS_ACCESS_KEY_ID: "k",
          REVIEW_HOOK_SECRET: "a-secret",
          SMTP_PASSWORD: "a-password",
          TEAM_WEBHOOK_URL: "https://chat.example.com/in",
          AWS_SECRET_ACCESS_KEY: "s",
          SHOP_PASSWORD: "p",
          GITHUB_TOKEN: "g",
          FORGE_TOKEN: "f",
        },
      });
      expect({ page, line, notes }).toEqual({ page, line, notes: [] });
    }
});

test("each block of a provider names its model", async () => {
  const page = await Bun.file(resolve(import.meta.dir, "../../docs/how-to/providers.md")).text();
  const sections = page.split(/^## /m).slice(1);
  expect(sections.length).toBeGreaterThan(8);
  for (const section of sections)
    for (const { language, text } of blocksOf(section)) {
      if (language !== "toml") continue;
      await writeFile(join(folder, "example.toml"), text);
      const { model } = await loadConfig({ cwd: folder, file: "example.toml", env: {} });
      expect(text).toContain(`"${model?.name}"`);
    }
});
