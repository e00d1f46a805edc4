import { expect, test } from "bun:test";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { landlockAbi } from "./kernel.ts";
import { ownScriptArgv } from "./own-script.ts";

const script = `
import { readFileSync, writeFileSync } from "node:fs";
const attempt = (act) => { try { act(); return "done"; } catch { return "refused"; } };
const [, , inside, outside] = process.argv;
console.log(
  attempt(() => writeFileSync(inside + "/made.txt", "x")),
  attempt(() => readFileSync(outside)),
  attempt(() => writeFileSync(outside + ".new", "x")),
);
`;

test("a script of ours works in its folder and, where the kernel can hold it, nowhere else", async () => {
  const home = await mkdtemp(join(tmpdir(), "manyhands-script-"));
  try {
    const [code, folder] = [join(home, "code"), join(home, "work")];
    await Promise.all([mkdir(code), mkdir(folder)]);
    await Bun.write(join(code, "script.ts"), script);
    await Bun.write(join(home, "secret"), "canary");
    const argv = [...ownScriptArgv(join(code, "script.ts"), { code, folder }), folder, join(home, "secret")];
    const output = await new Response(Bun.spawn(argv, { env: {}, cwd: folder, stderr: "inherit" }).stdout).text();
    const elsewhere = process.platform === "linux" && landlockAbi() >= 3 ? "refused refused" : "done done";
    expect(output.trim()).toBe(`done ${elsewhere}`);
  } finally {
    await rm(home, { recursive: true, force: true });
  }
});
