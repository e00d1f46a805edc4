/** Writes the pages that are made of the sources: the API reference and `llms.txt`. */
import { join } from "node:path";
import { apiPage, readEntries } from "./api.ts";
import { llmsText } from "./pages.ts";

const docs = join(import.meta.dir, "..");
await Bun.write(join(docs, "reference/api.md"), apiPage(await readEntries()));
await Bun.write(join(docs, "llms.txt"), await llmsText());
