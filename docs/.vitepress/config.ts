import { defineConfig } from "vitepress";
import { pagesOf, parts } from "../site/pages.ts";
import { slug } from "../site/slug.ts";

const sidebar = await Promise.all(
  parts.map(async (part) => {
    const pages = await pagesOf(part);
    const linksBelow = (folder: string) =>
      pages
        .filter(({ path }) => path.startsWith(`${folder}/`))
        .map(({ path, title }) => ({ text: title, link: `/${path}` }));
    const groups = Object.entries(part.groups ?? {}).map(([name, text]) => ({
      text,
      collapsed: true,
      items: linksBelow(`${part.folder}/${name}`),
    }));
    const collapsed = groups.length > 0;
    return { text: part.title, collapsed, items: collapsed ? groups : linksBelow(part.folder) };
  }),
);

/** The site: the same files as on a code host, with a search of its own that asks nobody else. */
// biome-ignore lint/style/noDefaultExport: VitePress reads it
export default defineConfig({
  title: "Manyhands",
  description: "AI agents as durable microservices that speak A2A.",
  cleanUrls: true,
  srcExclude: ["examples/**", "site/**"],
  ignoreDeadLinks: "localhostLinks",
  markdown: {
    anchor: { slugify: slug },
    // Vue would take `{{field}}` in a line of code for an expression of its own.
    config(md) {
      const inline = md.renderer.rules.code_inline;
      md.renderer.rules.code_inline = (tokens, at, options, env, self) => {
        tokens[at]?.attrSet("v-pre", "");
        return inline?.(tokens, at, options, env, self) ?? "";
      };
    },
  },
  themeConfig: {
    search: { provider: "local" },
    nav: parts.map(({ title, folder, first }) => ({ text: title, link: `/${folder}/${first[0]}` })),
    sidebar,
    outline: [2, 3],
  },
});
