/** Writes what is made from the sources (the API reference, `llms.txt`), then builds the site into `.vitepress/dist`. */
import { join } from "node:path";
import { build } from "vitepress";
import { apiPage, readEntries } from "./api.ts";
import { llmsText, pagesOf, parts } from "./pages.ts";

const docs = join(import.meta.dir, "..");
await Bun.write(join(docs, "reference/api.md"), apiPage(await readEntries()));
const llms = await llmsText();
await Bun.write(join(docs, "llms.txt"), llms);
await build(docs);
// A reader of llms.txt wants the pages as they are written.
await Bun.write(join(docs, ".vitepress/dist/llms.txt"), llms);
for (const { path } of (await Promise.all(parts.map(pagesOf))).flat())
  await Bun.write(join(docs, `.vitepress/dist/${path}.md`), Bun.file(join(docs, `${path}.md`)));
process.stdout.write(`The site is in ${join(docs, ".vitepress/dist")}\n`);
