import * as z from "zod";
import { hosts } from "./web-sections.ts";

const text = z.string().min(1);

/** `[browser]`: OpenManus's keys, and what a conversation may have of the browser. `enabled` false leaves out all that needs one. */
export const browserSection = z.strictObject({
  enabled: z.boolean().default(true),
  headless: z.boolean().default(true),
  disable_security: z.boolean().default(false),
  extra_chromium_args: z.array(z.string()).default([]),
  chrome_instance_path: text.optional(),
  wss_url: text.optional(),
  cdp_url: text.optional(),
  max_content_length: z.int().min(100).max(10_000_000).default(20_000),
  scope: z.enum(["task", "open"]).default("task"),
  trusted_hosts: z.array(hosts).default([]),
  window_width: z.int().min(200).max(10_000).default(1280),
  window_height: z.int().min(200).max(10_000).default(800),
  locale: text.default("en-US"),
  idle_seconds: z.number().min(1).max(86_400).default(600),
  max_contexts: z.int().min(1).max(1000).default(8),
  max_tabs: z.int().min(1).max(1000).default(20),
  max_download_bytes: z.int().min(1).max(100_000_000_000).default(100_000_000),
  proxy: z.strictObject({ server: text.optional(), username: text.optional(), password: text.optional() }).prefault({}),
});
