import * as z from "zod";

/** An address that a caller names, for the gateway to send requests to. */
export const httpUrl = z.url({ protocol: /^https?$/, error: "It must be a URL that begins with http:// or https://" });
