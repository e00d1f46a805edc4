import { AppError } from "../../core/errors.ts";
import { replyOf } from "../../machine/process/own-script-reply.ts";

/** What `runOwnScript` runs in its test: does what its first argument says. */
const [what, ...args] = process.argv.slice(2);
if (what === "tell") {
  process.stderr.write("not part of the reply");
  const input = await Bun.stdin.text();
  await replyOf(() => ({ args, input, env: process.env, folder: process.cwd() }));
}
if (what === "fail") process.exit(7);
if (what === "refuse")
  await replyOf(() => {
    throw new AppError("rejected", "It is so.");
  });
if (what === "throw")
  await replyOf(() => {
    throw new Error("a fault of ours");
  });
if (what === "mislead") await replyOf(() => "no such thing");
if (what === "fill") {
  const held: Uint8Array[] = [];
  for (;;) {
    held.push(new Uint8Array(8 * 1024 ** 2).fill(1));
    await Bun.sleep(1);
  }
}
if (what === "wait") await Bun.sleep(600_000);
