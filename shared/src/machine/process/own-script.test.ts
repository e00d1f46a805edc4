import { expect, test } from "bun:test";
import { chmod, chown, mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { landlockAbi } from "../kernel/landlock.ts";
import { codeFolder, ownScriptArgv } from "./own-script.ts";

const script = `
import { readFileSync, writeFileSync } from "node:fs";
const attempt = (act) => { try { act(); return "done"; } catch { return "refused"; } };
const [, , inside, outside] = process.argv;
console.log(
  attempt(() => writeFileSync(inside + "/made.txt", "x")),
  attempt(() => readFileSync(outside)),
  attempt(() => writeFileSync(outside + ".new", "x")),
  attempt(() => writeFileSync(import.meta.dir + "/made.ts", "x")),
);
`;

test("our own script reads no settings where it is started, so that no foreign file becomes its code", async () => {
  const home = await mkdtemp(join(tmpdir(), "manyhands-script-"));
  try {
    await Bun.write(join(home, "bunfig.toml"), 'preload = ["./evil.ts"]');
    await Bun.write(join(home, "evil.ts"), 'console.log("evil");');
    await Bun.write(join(home, ".env"), "EVIL=evil");
    await Bun.write(join(home, "shared/script.ts"), 'console.log("own", process.env.EVIL);');
    const argv = ownScriptArgv(join(home, "shared/script.ts"), { code: home });
    const child = Bun.spawn(argv, { env: {}, cwd: home, stderr: "inherit" });
    expect(await new Response(child.stdout).text()).toBe("own undefined\n");
  } finally {
    await rm(home, { recursive: true, force: true });
  }
});

test.if(process.getuid?.() === 0)(
  "our own script never runs as root, even if other users cannot reach its code",
  async () => {
    const home = await mkdtemp(join(tmpdir(), "manyhands-script-"));
    try {
      const [code, folder] = [join(home, "code"), join(home, "work")];
      await Promise.all([mkdir(code), mkdir(folder)]);
      await chown(folder, 4242, 4343);
      await Bun.write(
        join(code, "shared/script.ts"),
        "console.log(process.getuid?.(), process.getgid?.(), process.getgroups?.(), /CapBnd.*/.exec(await Bun.file('/proc/self/status').text())?.[0].slice(-16), process.argv[2] && await Bun.write(process.argv[2] + '/made', 'abc'));",
      );
      const run = async (options: Parameters<typeof ownScriptArgv>[1]) => {
        const child = Bun.spawn(ownScriptArgv(join(code, "shared/script.ts"), options), {
          env: {},
          cwd: "/",
          stderr: "inherit",
        });
        return new Response(child.stdout).text();
      };
      expect(await run({ code })).toBe("65534 65534 [] 0000000000000000 undefined\n");
      expect(await run({ code, folder })).toBe("4242 4343 [] 0000000000000000 3\n");
    } finally {
      await rm(home, { recursive: true, force: true });
    }
  },
);

test("our own script works in its folder and, if the kernel can enforce it, nowhere else", async () => {
  const home = await mkdtemp(join(tmpdir(), "manyhands-script-"));
  try {
    const [code, folder] = [join(home, "code"), join(home, "work")];
    await Promise.all([mkdir(code), mkdir(folder)]);
    await mkdir(join(code, "shared"));
    await Bun.write(join(code, "shared/script.ts"), script);
    // The kernel's rules hold where the modes of files would allow it.
    await chmod(join(code, "shared"), 0o777);
    // Beside the checkout, and in it: its settings, and the home where it is by default.
    for (const secret of [join(home, "secret"), join(code, "manyhands.toml"), join(code, ".manyhands/runs.db")]) {
      await Bun.write(secret, "canary");
      await chmod(secret, 0o666);
      await chmod(dirname(secret), 0o777);
      const argv = [...ownScriptArgv(join(code, "shared/script.ts"), { code, folder }), secret];
      const output = await new Response(Bun.spawn(argv, { env: {}, cwd: folder, stderr: "inherit" }).stdout).text();
      const held = process.platform === "linux" && landlockAbi() >= 3;
      const elsewhere = held ? "refused refused refused" : "done done done";
      expect([secret, output.trim()]).toEqual([secret, `done ${elsewhere}`]);
    }
  } finally {
    await rm(home, { recursive: true, force: true });
  }
});

test("our code and its imports are below the workspace, or below the outermost node_modules around the package", () => {
  const room = "manyhands/shared/src/machine/sandbox";
  expect(codeFolder("/home/me/manyhands/shared/src/machine/sandbox")).toBe("/home/me/manyhands");
  expect(codeFolder(`/home/me/team/node_modules/${room}`)).toBe("/home/me/team/node_modules");
  expect(codeFolder(`/team/node_modules/.pnpm/manyhands@1/node_modules/${room}`)).toBe("/team/node_modules");
});

test("our own script finds what is installed beside the package, and reads nothing else of the project", async () => {
  const project = await mkdtemp(join(tmpdir(), "manyhands-script-"));
  try {
    const code = join(project, "node_modules");
    const script = join(code, "manyhands/script.js");
    // Others may read what is beside it, and the script may not.
    await chmod(project, 0o755);
    await Bun.write(join(code, "library/package.json"), '{"name":"library","main":"index.js","type":"module"}');
    await Bun.write(join(code, "library/index.js"), 'export const found = "found";');
    await Bun.write(join(project, "manyhands.toml"), "canary");
    await Bun.write(
      script,
      `import { readFileSync } from "node:fs";
       import { found } from "library";
       let secret = "refused";
       try { secret = readFileSync(${JSON.stringify(join(project, "manyhands.toml"))}, "utf8"); } catch {}
       console.log(found, secret);`,
    );
    const child = Bun.spawn(ownScriptArgv(script, { code }), { env: {}, cwd: "/", stderr: "inherit" });
    const held = process.platform === "linux" && landlockAbi() >= 3 ? "refused" : "canary";
    expect(await new Response(child.stdout).text()).toBe(`found ${held}\n`);
  } finally {
    await rm(project, { recursive: true, force: true });
  }
});

test("a script that asks a server is not locked in, any other is where the kernel can", () => {
  const isLocked = (options: Parameters<typeof ownScriptArgv>[1]) =>
    ownScriptArgv("/a/script.ts", options).some((word) => word.endsWith("landlock-launcher.ts"));
  const canLock = process.platform === "linux" && landlockAbi() >= 3;
  expect([isLocked({ network: true }), isLocked({}), isLocked({ network: false })]).toEqual([false, canLock, canLock]);
});
