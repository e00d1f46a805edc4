import { createHash } from "node:crypto";

/**
 * Takes the text of one page from the window around it, and shows what it makes of it. It runs in
 * an origin of its own (`sandbox` without `allow-same-origin`): no storage, no cookies, no way
 * back. The page is parsed once, where nothing loads, and loses what a policy does not govern
 * everywhere: names that are resolved and addresses that are gone to.
 */
const script = `addEventListener("message", ({ source, data }) => {
  if (source !== parent) return;
  const page = new DOMParser().parseFromString(data, "text/html");
  const leading = "script, link, base, meta[http-equiv], iframe, frame, frameset, object, embed";
  for (const element of page.querySelectorAll(leading)) element.remove();
  for (const element of page.querySelectorAll("a, area, form"))
    for (const name of ["href", "xlink:href", "ping", "target", "action"]) element.removeAttribute(name);
  document.replaceChild(document.adoptNode(page.documentElement), document.documentElement);
}, { once: true });
parent.postMessage("ready", "*");`;

const hash = createHash("sha256").update(script).digest("base64");

/** The frame in which the console shows pages that agents wrote. */
export const framePage = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Preview</title><script>${script}</script></html>`;

/**
 * What a page in the frame may do: look like itself. The only script is the frame's own; nothing is
 * loaded, sent, submitted or opened.
 */
export const framePolicy = [
  "sandbox allow-scripts",
  "default-src 'none'",
  `script-src 'sha256-${hash}'`,
  "style-src 'unsafe-inline'",
  "img-src data:",
  "font-src data:",
  "form-action 'none'",
  "base-uri 'none'",
  "frame-ancestors 'self'",
].join("; ");
