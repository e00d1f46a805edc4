import { defineConfig } from "vitepress";
import { pagesOf, parts } from "../site/pages.ts";
import { slug } from "../site/slug.ts";

const sidebar = await Promise.all(
  parts.map(async (part) => ({
    text: part.title,
    collapsed: part.folder === "decisions",
    items: (await pagesOf(part)).map(({ path, title }) => ({ text: title, link: `/${path}` })),
  })),
);

/** The site: the same files as on a code host, with a search of its own that asks nobody else. */
// biome-ignore lint/style/noDefaultExport: VitePress reads it
export default defineConfig({
  title: "Manyhands",
  description: "AI agents as durable microservices that speak A2A.",
  cleanUrls: true,
  srcExclude: ["examples/**", "site/**"],
  ignoreDeadLinks: "localhostLinks",
  markdown: { anchor: { slugify: slug } },
  themeConfig: {
    search: { provider: "local" },
    nav: parts.map(({ title, folder, first }) => ({ text: title, link: `/${folder}/${first[0]}` })),
    sidebar,
    outline: [2, 3],
  },
});
