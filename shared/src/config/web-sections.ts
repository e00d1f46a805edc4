import * as z from "zod";
import { engineNames } from "../tools/web/search/engine.ts";

const text = z.string().min(1);
const url = z
  .url({ protocol: /^https?$/ })
  .describe("a URL that begins with http:// or https://")
  .optional();
const place = z.strictObject({ url }).prefault({});
const access = z.strictObject({ api_key: text.optional(), url }).prefault({});

const engineList = "Google, Baidu, DuckDuckGo, Bing, SearXNG, Brave, Tavily, Exa, Serper, google_cse";

/** Engines by name, in any case, as OpenManus writes them. */
const engine = z.string().toLowerCase().pipe(z.enum(engineNames)).describe(`one of ${engineList}`);

const host = z
  .string()
  .regex(/^(?:\[[\da-f:.]+\]|[a-z\d_-]+(?:\.[a-z\d_-]+)*)(?::\d{1,5})?$/i)
  .describe('a host as in a URL: "intranet.example" or "127.0.0.1:8080"');
/** A host as in a URL, or all names below one. */
export const hosts = z
  .string()
  .regex(/^(?:\*\.)?(?:\[[\da-f:.]+\]|[a-z\d_-]+(?:\.[a-z\d_-]+)*)(?::\d{1,5})?$/i)
  .describe('a host as in a URL, or "*.example.com" for all names below one');

/** `[search]`: OpenManus's keys, and how each engine is reached. `enabled` false leaves out both web tools. */
export const searchSection = z.strictObject({
  enabled: z.boolean().default(true),
  engine: engine.optional(),
  fallback_engines: z.array(engine).describe(`a list of ${engineList}`).default([]),
  retry_delay: z.number().min(0).max(3600).optional(),
  max_retries: z.int().min(0).max(100).optional(),
  lang: text.default("en"),
  country: z
    .string()
    .regex(/^[a-z]{2}$/i)
    .describe('two letters, such as "us"')
    .default("us"),
  searxng: place,
  brave: access,
  tavily: access,
  exa: access,
  serper: access,
  google_cse: z.strictObject({ api_key: text.optional(), cx: text.optional(), url }).prefault({}),
  duckduckgo: place,
  bing: place,
  baidu: place,
  google: place,
});

/**
 * `[egress]`: where the web tools and the browser may go. `allow` are hosts of one's own network, each by its name, that are reached although their address is private;
 * `deny` are never reached; `only`, when not empty, are the only ones.
 */
export const egressSection = z.strictObject({
  allow: z.array(host).default([]),
  deny: z.array(hosts).default([]),
  only: z.array(hosts).default([]),
  proxy: url,
});
