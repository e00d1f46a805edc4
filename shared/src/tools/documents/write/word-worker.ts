import { AppError } from "../../../core/errors.ts";
import { makeWord } from "./make-word.ts";
import { wordRequest } from "./word-protocol.ts";

/** Started by `writeWord`: makes a Word document of the HTML on its standard input, and ends. */

const request = wordRequest.parse(JSON.parse(await Bun.stdin.text()));
const reply = await makeWord(request).then(
  (content) => ({ ok: true, content: Buffer.from(content).toString("base64") }),
  (error: unknown) => {
    if (!(error instanceof AppError)) throw error;
    return { ok: false, message: error.message };
  },
);
await Bun.write(Bun.stdout, JSON.stringify(reply));
process.exit(0);
