/** Writes what is made from the sources (the API reference, `llms.txt`), then builds the site into `.vitepress/dist`. */
import { join } from "node:path";
import { build } from "vitepress";
import { apiPage, readEntries } from "./api.ts";
import { llmsText } from "./pages.ts";

const docs = join(import.meta.dir, "..");
await Bun.write(join(docs, "reference/api.md"), apiPage(await readEntries()));
const llms = await llmsText();
await Bun.write(join(docs, "llms.txt"), llms);
await build(docs);
await Bun.write(join(docs, ".vitepress/dist/llms.txt"), llms);
process.stdout.write(`The site is in ${join(docs, ".vitepress/dist")}\n`);
