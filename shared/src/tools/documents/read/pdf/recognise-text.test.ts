import { expect, spyOn, test } from "bun:test";
import * as files from "node:fs";

test("text is recognised in four of the languages that are installed, in twenty-five seconds, with none of our variables", async () => {
  using _ = spyOn(files, "accessSync").mockReturnValue(undefined);
  const listed = "List of available languages (6):\nosd\neng\ndeu\nfra\nspa\nita\n";
  const said = (text: string, exitCode = 0) => ({ exitCode, stdout: Buffer.from(text) });
  using spawn = spyOn(Bun, "spawnSync").mockImplementation(((argv: string[]) =>
    said(argv.includes("--list-langs") ? listed : " Some\ftext \n")) as never);
  const { recogniseText } = await import(`./recognise-text.ts?${crypto.randomUUID()}`);
  expect(recogniseText(new Uint8Array([1]))).toEqual({ text: "Sometext" });
  const env = { LANG: "C.UTF-8", OMP_THREAD_LIMIT: "1" };
  const [, [argv, options] = []] = spawn.mock.calls as unknown as [unknown, [string[], object]];
  expect(argv).toEqual(["/usr/bin/tesseract", "stdin", "stdout", "-l", "eng+deu+fra+spa"]);
  expect(options).toMatchObject({ timeout: 25_000, killSignal: "SIGKILL" });
  expect((options as { env: object }).env).toEqual(env);
  // The list is asked for once.
  spawn.mockReturnValue(said("", 1) as never);
  expect(recogniseText(new Uint8Array([1]))).toHaveProperty("problem");
  expect(spawn.mock.calls).toHaveLength(3);
});
