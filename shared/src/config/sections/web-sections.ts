import * as z from "zod";
import { profileName } from "../../machine/browser-profile/profile-store.ts";
import { engineNames } from "../../tools/web/search/engine.ts";

const text = z.string().min(1);
const url = z
  .url({ protocol: /^https?$/ })
  .describe("a URL that begins with http:// or https://")
  .optional();
const place = z.strictObject({ url }).prefault({});
const access = z.strictObject({ api_key: text.optional(), url }).prefault({});

const engineList = "Google, Baidu, DuckDuckGo, Bing, SearXNG, Brave, Tavily, Exa, Serper, google_cse";

/** Engine names in any case, as OpenManus writes them. */
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

/** Where a running browser is. */
const browserAddress = z
  .url({ protocol: /^(https?|wss?)$/ })
  .describe("a URL that begins with http://, https://, ws:// or wss://");
/** `HOST:PORT` means a proxy over http. */
const proxyAddress = z
  .string()
  .refine((server) => /^https?:$/.test(URL.parse(server.includes("://") ? server : `http://${server}`)?.protocol ?? ""))
  .describe('an HTTP proxy, such as "http://proxy.example:3128"');

/**
 * `[search]`: OpenManus's keys, and how each engine is reached. `enabled = false` removes both web
 * tools.
 */
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
 * `[egress]`: where the web tools and the browser may go. `allow` lists internal hosts by name that
 * may be reached although their address is private; `deny` hosts are never reached; a non-empty
 * `only` excludes all others.
 */
export const egressSection = z.strictObject({
  allow: z.array(host).default([]),
  deny: z.array(hosts).default([]),
  only: z.array(hosts).default([]),
  proxy: url,
});

/**
 * `[browser]`: OpenManus's keys, and the browser limits of a conversation. `enabled = false`
 * removes everything that needs a browser.
 */
export const browserSection = z.strictObject({
  enabled: z.boolean().default(true),
  headless: z.boolean().default(true),
  disable_security: z.boolean().default(false),
  extra_chromium_args: z.array(z.string()).default([]),
  chrome_instance_path: text.optional(),
  wss_url: browserAddress.optional(),
  cdp_url: browserAddress.optional(),
  context: z.enum(["fresh", "own"]).default("fresh"),
  user_data_dir: z.string().regex(/^\//).describe("an absolute path").optional(),
  profile: z.string().regex(profileName).describe("a name in small letters, digits and dashes").optional(),
  max_content_length: z.int().min(100).max(10_000_000).default(20_000),
  scope: z.enum(["task", "open"]).default("task"),
  trusted_hosts: z.array(hosts).default([]),
  window_width: z.int().min(200).max(10_000).default(1280),
  window_height: z.int().min(200).max(10_000).default(800),
  locale: text.refine(isLocale).describe('a language such as "en-US"').default("en-US"),
  timezone: text.refine(isTimeZone).describe('a time zone such as "Europe/Berlin"').optional(),
  geolocation: z
    .strictObject({
      latitude: z.number().min(-90).max(90).optional(),
      longitude: z.number().min(-180).max(180).optional(),
      accuracy: z.number().min(0).max(1_000_000).default(10),
    })
    .prefault({}),
  patience_seconds: z.number().min(1).max(600).default(30),
  idle_seconds: z.number().min(1).max(86_400).default(600),
  max_contexts: z.int().min(1).max(1000).default(8),
  max_tabs: z.int().min(1).max(1000).default(20),
  max_download_bytes: z.int().min(1).max(100_000_000_000).default(100_000_000),
  proxy: z
    .strictObject({ server: proxyAddress.optional(), username: text.optional(), password: text.optional() })
    .prefault({}),
});

function isLocale(name: string): boolean {
  try {
    return Intl.getCanonicalLocales(name.replaceAll("_", "-")).length === 1;
  } catch {
    return false;
  }
}

function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat("en", { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

/**
 * `[secrets.NAME]`: what code may type into pages. Where the value is comes from exactly one of
 * `env`, `file`, `command` and `op`.
 */
export const secretSection = z.strictObject({
  kind: z.enum(["password", "totp", "text"]).default("password"),
  sites: z
    .array(z.url({ protocol: /^https?$/ }).refine((url) => URL.parse(url)?.origin === url))
    .min(1)
    .describe('a list of origins such as "https://shop.example"'),
  env: text.describe("the name of the variable that holds it").optional(),
  file: text.optional(),
  command: z.array(text).min(1).describe("a program and its arguments").optional(),
  op: z
    .string()
    .regex(/^op:\/\/[^/]+\/.+$/)
    .describe("a reference of 1Password, op://vault/item/field")
    .optional(),
  principals: z.array(text).min(1).describe('a list of principals, or "*" for all').default(["local"]),
  ask: z.boolean().default(false),
});
