/** Escapes text for an element or a quoted attribute. */
export function escapeHtml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}

/**
 * A self-contained page that its own policy forbids to load anything, and to run anything but the
 * scripts with these hashes.
 */
export function htmlPage(title: string, language: string, body: string, scripts: readonly string[] = []): string {
  const runs = scripts.length === 0 ? "" : `; script-src ${scripts.join(" ")}`;
  const policy = `default-src 'none'; img-src data:; style-src 'unsafe-inline'${runs}`;
  return `<!doctype html>
<html lang="${escapeHtml(language)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<title>${escapeHtml(title)}</title>
<style>
body { font: 16px/1.55 system-ui, "Noto Sans", "Noto Sans CJK SC", "WenQuanYi Micro Hei", sans-serif; color: #1c1c1c; margin: 2rem auto; max-width: 52rem; padding: 0 1rem; }
h1, h2, h3 { line-height: 1.25; margin: 1.6em 0 0.5em; }
h1, h2, h3, h4, h5, h6 { break-after: avoid; }
h1 { font-size: 1.9em; margin-top: 0; }
svg, img { display: block; max-width: 100%; height: auto; margin: 0 auto; }
table { border-collapse: collapse; display: block; overflow-x: auto; font-size: 0.92em; font-variant-numeric: tabular-nums; margin: 1em 0; }
th, td { border: 1px solid #d0d0d0; padding: 0.25rem 0.7rem; }
th { background: #f4f4f4; text-align: left; }
td.number { text-align: right; }
blockquote { border-left: 3px solid #c9c9c9; color: #444; margin: 1em 0; padding-left: 1em; }
code { background: #f4f4f4; padding: 0.1em 0.3em; }
pre { background: #f4f4f4; overflow-x: auto; padding: 0.8em; }
pre code { background: none; padding: 0; }
summary { cursor: pointer; }
.page-break { border: 0; break-after: page; margin: 0; }
@media screen { .page-break { border-top: 1px dashed #c9c9c9; margin: 2em 0; } }
@media print { body { max-width: none; } table { display: table; } tr, img, svg { break-inside: avoid; } pre { white-space: pre-wrap; overflow-wrap: anywhere; } }
</style>
</head>
<body>
${body}
</body>
</html>
`;
}
