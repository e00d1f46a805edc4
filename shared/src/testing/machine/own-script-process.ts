/** What `runOwnScript` runs in its test: does what its first argument says. */
const [what, ...args] = process.argv.slice(2);
if (what === "tell") {
  const input = await Bun.stdin.text();
  process.stdout.write(JSON.stringify({ args, input, env: process.env, folder: process.cwd() }));
  process.stderr.write("not part of the output");
}
if (what === "fail") process.exit(7);
if (what === "fill") {
  const held: Uint8Array[] = [];
  for (;;) {
    held.push(new Uint8Array(8 * 1024 ** 2).fill(1));
    await Bun.sleep(1);
  }
}
if (what === "wait") await Bun.sleep(600_000);

export {};
