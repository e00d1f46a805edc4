import { element } from "./element.js";

/**
 * Fields for the options of a flow, made from their JSON Schema: simple types get an input, all
 * others a box for JSON.
 *
 * @param {{ properties?: Record<string, object> }} schema @returns {{ root: HTMLElement, values():
 * Record<string, unknown> }} `values` returns the options that were set; it throws an Error that
 * names the option whose JSON is invalid.
 */
export function optionFields({ properties = {} }) {
  const fields = Object.entries(properties).map(([name, about]) => ({ name, ...fieldOf(name, about) }));
  return {
    root: element(
      "details",
      { hidden: fields.length === 0, class: "options" },
      element("summary", {}, "Options"),
      fields.map(row),
    ),
    values() {
      const set = fields.map(({ name, read }) => [name, read()]);
      return Object.fromEntries(set.filter(([, value]) => value !== undefined));
    },
  };
}

function row({ name, input, about }) {
  const note = about.description && element("span", { class: "quiet", id: `about-${name}` }, about.description);
  const label = element("label", { for: input.id }, name);
  const parts = input.type === "checkbox" ? [element("div", { class: "check" }, input, label)] : [label, input];
  return element("div", { class: "option" }, parts, note);
}

function fieldOf(name, about) {
  const common = { id: `option-${name}`, ...(about.description && { "aria-describedby": `about-${name}` }) };
  if (about.type === "boolean") {
    const input = element("input", { ...common, type: "checkbox", checked: about.default === true });
    return { about, input, read: () => (input.checked === (about.default === true) ? undefined : input.checked) };
  }
  if (Array.isArray(about.enum)) {
    const names = ["", ...about.enum].map((value) => element("option", { value }, value === "" ? "default" : value));
    const input = element("select", common, names);
    return { about, input, read: () => input.value || undefined };
  }
  const placeholder = about.default === undefined ? undefined : JSON.stringify(about.default);
  if (about.type === "integer" || about.type === "number") {
    const step = about.type === "integer" ? 1 : "any";
    const bounds = { min: about.minimum, max: about.maximum, step };
    const input = element("input", { ...common, type: "number", placeholder, ...bounds });
    return { about, input, read: () => (input.value === "" ? undefined : input.valueAsNumber) };
  }
  if (about.type === "string") {
    const input = element("input", { ...common, type: "text", placeholder: about.default });
    return { about, input, read: () => input.value || undefined };
  }
  const input = element("textarea", { ...common, rows: 3, spellcheck: "false", placeholder: placeholder ?? "JSON" });
  return { about, input, read: () => (input.value.trim() === "" ? undefined : parsed(name, input.value)) };
}

function parsed(name, text) {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`${name} is not valid JSON: ${error.message}`);
  }
}
