import { resolve } from "node:path";
import * as z from "zod";
import { AppError } from "../../core/errors.ts";
import { ownScriptArgv } from "../../machine/process/own-script.ts";

const imageReply = z.discriminatedUnion("ok", [
  z.strictObject({
    ok: z.literal(true),
    format: z.string(),
    width: z.int(),
    height: z.int(),
    shownWidth: z.int(),
    shownHeight: z.int(),
    mediaType: z.enum(["image/png", "image/jpeg"]),
    data: z.base64(),
  }),
  z.strictObject({ ok: z.literal(false), tooLarge: z.boolean(), message: z.string() }),
]);

/** What the image's process answers with. */
export type ImageReply = z.output<typeof imageReply>;

/**
 * An image made fit to be shown to a model: at most as large as wanted, and 5 MB. `width`, `height`
 * and `format` are its own.
 */
export type ShownImage = Omit<Extract<ImageReply, { ok: true }>, "ok">;

const deadlineMs = 20_000;
const screen = { width: 1920, height: 1080 };

/**
 * Decodes an image that others wrote and makes it smaller where it has to be (1920 × 1080 when left
 * out), in a process of its own that reaches no file and no network. Rejects with `too_large` above
 * 50 million pixels, with `unsupported` when it cannot be decoded, with `timeout`, and with the
 * signal's reason.
 */
export async function showImage(
  content: Uint8Array<ArrayBuffer>,
  signal: AbortSignal,
  box: { readonly width: number; readonly height: number } = screen,
): Promise<ShownImage> {
  signal.throwIfAborted();
  const deadline = AbortSignal.timeout(deadlineMs);
  const argv = ownScriptArgv(resolve(import.meta.dir, "image-worker.ts"));
  const child = Bun.spawn([...argv, String(box.width), String(box.height)], {
    cwd: "/",
    env: { LANG: "C.UTF-8" },
    stdin: new Blob([content]),
    stdout: "pipe",
    stderr: "ignore",
    signal: AbortSignal.any([signal, deadline]),
    killSignal: "SIGKILL",
  });
  const [output, exitCode] = await Promise.all([new Response(child.stdout).text(), child.exited]);
  signal.throwIfAborted();
  if (deadline.aborted) throw new AppError("timeout", `The image was not decoded within ${deadlineMs / 1000} s.`);
  if (exitCode !== 0) throw new AppError("unavailable", `The image's process ended with exit code ${exitCode}.`);
  const reply = imageReply.parse(JSON.parse(output));
  if (reply.ok) return reply;
  if (reply.tooLarge) throw new AppError("too_large", "The image has more than 50 million pixels.");
  throw new AppError("unsupported", `It cannot be decoded as an image: ${reply.message}.`);
}
