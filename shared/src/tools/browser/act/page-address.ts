import * as z from "zod";

/** An address to open: `https://` is put before one without a scheme; only the web's schemes are taken. */
export const pageAddress = z
  .string()
  .trim()
  .min(1)
  .max(8_000)
  .transform((value) => (/^[a-z][a-z0-9+.-]*:(?!\d)/i.test(value) ? value : `https://${value}`))
  .refine((value) => URL.canParse(value) && /^https?:$/.test(new URL(value).protocol), {
    message: "Only http and https addresses can be opened",
  })
  .describe('Such as "https://example.com/page".');
