/** Builds the site into `.vitepress/dist`. */
import { join } from "node:path";
import { build } from "vitepress";
import { pagesOf, parts } from "./pages.ts";

const docs = join(import.meta.dir, "..");
const site = join(docs, ".vitepress/dist");
await build(docs);
// A reader of llms.txt wants the pages as they are written.
const pages = (await Promise.all(parts.map(pagesOf))).flat().map(({ path }) => `${path}.md`);
for (const path of ["llms.txt", ...pages]) await Bun.write(join(site, path), Bun.file(join(docs, path)));
process.stdout.write(`The site is in ${site}\n`);
