import { expect, test } from "bun:test";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isProtected } from "manyhands/internal/machine/workspace/protected-names";
import { saveFiles } from "./save-files.ts";

async function savedAs(...names: string[]): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), "manyhands-saved-"));
  try {
    const artifacts = names.map((name, at) => ({
      type: "artifact-added" as const,
      artifactId: name,
      name,
      parts: [{ type: "file" as const, name, sha256: `${at}`.repeat(64), mediaType: "", size: 1 }],
    }));
    const source = { file: async () => new Uint8Array([1]) };
    const saved = await saveFiles(artifacts, join(folder, "out"), source, { signal: AbortSignal.timeout(60_000) });
    expect(await readdir(folder)).toEqual(["out"]);
    return saved.map(({ path }) => path.slice(join(folder, "out").length + 1));
  } finally {
    await rm(folder, { recursive: true });
  }
}

test("files keep their folders, so that a report finds its charts", async () => {
  expect(await savedAs("report.md", "visualization/a.png")).toEqual(["report.md", "visualization/a.png"]);
});

test("no part of a path is longer than file systems take", async () => {
  const long = "x".repeat(300);
  expect(await savedAs(`${long}/${long}`)).toEqual([`${"x".repeat(200)}/${"x".repeat(200)}`]);
});

test("of very many folders the last eight are kept", async () => {
  const deep = Array.from({ length: 12 }, (_, n) => `f${n}`);
  expect(await savedAs([...deep, "a.txt"].join("/"))).toEqual([[...deep.slice(-8), "a.txt"].join("/")]);
});

test("text other than the answer is saved as a file too: a plan, a transcript, in the newest version", async () => {
  const folder = await mkdtemp(join(tmpdir(), "manyhands-saved-"));
  const text = (name: string, said: string) =>
    ({ type: "artifact-added", artifactId: name, name, parts: [{ type: "text", text: said }] }) as const;
  const artifacts = [
    text("plan.md", "# One"),
    text("plan.md", "# Two"),
    text("answer", "42"),
    text("partial-answer", "4"),
  ];
  const source = { file: () => Promise.reject(new Error("there is no file")) };
  // What an earlier task left there under the same name is replaced.
  await Bun.write(join(folder, "plan.md"), "# Of the task before");
  await saveFiles(artifacts, folder, source, { signal: AbortSignal.timeout(60_000) });
  expect(await readdir(folder)).toEqual(["plan.md"]);
  expect(await Bun.file(join(folder, "plan.md")).text()).toBe("# Two");
  await rm(folder, { recursive: true });
});

test("no name leaves the folder, hides in it or collides with another", async () => {
  expect(await savedAs("../../x.md", "/etc/passwd", "..\\y.md", "./answer")).toEqual([
    "x.md",
    "etc/passwd",
    "y.md",
    "answer",
  ]);
  expect(await savedAs(".git/hooks/pre-commit", "a", "A/b.txt", "c/d", "c")).toEqual([
    "_git/hooks/pre-commit",
    "a",
    "b.txt",
    "c/d",
    "c-2",
  ]);
  expect(await savedAs("..", "a/\u001b[2J.md")).toEqual(["file", "a/_[2J.md"]);
});

test("names that differ only in case, or become equal, do not collide on a case-insensitive disk", async () => {
  expect(await savedAs("README.md", "readme.md", "../README.md", "Data/a", "data/A")).toEqual([
    "README.md",
    "readme-2.md",
    "README-3.md",
    "Data/a",
    "data/A-2",
  ]);
});

test("no file gets a name that shells, editors, runtimes or this system read automatically", async () => {
  const trusted = [
    ".envrc",
    ".env",
    ".bashrc",
    ".git",
    ".gitconfig",
    ".npmrc",
    ".vscode/settings.json",
    ".git/hooks/post-checkout",
    "a/.Envrc",
    "manyhands.toml",
    "Manyhands.TOML",
    "bunfig.toml",
    "mcp.json",
    "sub/bunfig.toml",
    "manyhands.toml.",
    "bunfig.toml ",
    "mcp.json::$DATA",
  ];
  const saved = await savedAs(...trusted);
  expect(saved.slice(0, 3)).toEqual(["_envrc", "_env", "_bashrc"]);
  for (const path of saved) {
    expect(isProtected(path)).toBe(false);
    expect(path).not.toMatch(/(?:^|\/)\.|[. :]$/);
  }
  expect(await savedAs("a.test.ts", "README", "notes.toml")).toEqual(["a.test.ts", "README", "notes.toml"]);
});

test("a file has its own name, a link without one that of its artifact, and data are no file", async () => {
  const folder = await mkdtemp(join(tmpdir(), "manyhands-saved-"));
  const parts = [
    { type: "file", name: "own:name\u0007.md", sha256: "a", mediaType: "", size: 1 },
    { type: "url", url: "http://a.example/x" },
    { type: "url", url: "http://a.example/y", name: "linked.png" },
    { type: "data", data: { a: 1 } },
  ] as const;
  const fetched: unknown[] = [];
  const source = {
    async file(part: unknown) {
      fetched.push(part);
      return new TextEncoder().encode("hello");
    },
  };
  const artifact = { type: "artifact-added", artifactId: "a", name: "report", parts } as const;
  const saved = await saveFiles([artifact], folder, source, { signal: AbortSignal.timeout(60_000) });
  expect(saved).toEqual(
    ["own_name_.md", "report", "linked.png"].map((name) => ({ path: join(folder, name), bytes: 5 })),
  );
  expect(fetched).toEqual(parts.slice(0, 3));
  expect((await readdir(folder)).toSorted()).toEqual(["linked.png", "own_name_.md", "report"]);
  await rm(folder, { recursive: true });
});
