/** A piece of HTML that is safe to put into a page. */
export type Html = { readonly html: string };

/**
 * HTML from a template: values are escaped, pieces of HTML and lists of them are put in as they
 * are.
 */
export function html(
  parts: TemplateStringsArray,
  ...values: readonly (string | number | Html | readonly Html[])[]
): Html {
  const text = parts.map((part, at) => part + (at < values.length ? put(values[at] ?? "") : ""));
  return { html: text.join("") };
}

function put(value: string | number | Html | readonly Html[]): string {
  if (typeof value === "number") return String(value);
  if (typeof value === "string") return Bun.escapeHTML(value);
  return "html" in value ? value.html : value.map((one) => one.html).join("");
}
