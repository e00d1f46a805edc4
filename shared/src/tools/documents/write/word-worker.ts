import { replyOf } from "../../../machine/process/own-script-reply.ts";
import { makeWord } from "./make-word.ts";
import { wordRequest } from "./word-protocol.ts";

/** Started by `writeWord`: makes a Word document of the HTML on its standard input, and ends. */

const request = wordRequest.parse(await Bun.stdin.json());
await replyOf(async () => ({ content: Buffer.from(await makeWord(request)).toString("base64") }));
