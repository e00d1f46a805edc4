import type { ElicitRequestFormParams } from "@modelcontextprotocol/server";

/** A form for a person to fill in. */
export type Form = ElicitRequestFormParams["requestedSchema"];

/** A form of one text. */
export const one = (name: string): Form => ({
  type: "object",
  properties: { [name]: { type: "string" } },
  required: [name],
});

/** A form with a yes or no. */
export const confirmation: Form = { type: "object", properties: { ok: { type: "boolean" } }, required: ["ok"] };

/** A form with a default for every kind of field. */
export const defaults: Form = {
  type: "object",
  properties: {
    name: { type: "string", default: "John Doe" },
    age: { type: "integer", default: 30 },
    score: { type: "number", default: 95.5 },
    status: { type: "string", enum: ["active", "inactive", "pending"], default: "active" },
    verified: { type: "boolean", default: true },
  },
};

const options = ["option1", "option2", "option3"];
const titled = [
  { const: "value1", title: "First" },
  { const: "value2", title: "Second" },
  { const: "value3", title: "Third" },
];

/** A form with every kind of choice. */
export const choices: Form = {
  type: "object",
  properties: {
    untitledSingle: { type: "string", enum: options },
    titledSingle: { type: "string", oneOf: titled },
    legacyEnum: { type: "string", enum: ["opt1", "opt2", "opt3"], enumNames: ["One", "Two", "Three"] },
    untitledMulti: { type: "array", minItems: 1, maxItems: 3, items: { type: "string", enum: options } },
    titledMulti: { type: "array", minItems: 1, maxItems: 3, items: { anyOf: titled } },
  },
};

/** The schema of a tool that must arrive unchanged. */
export const wide = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object" as const,
  $defs: {
    address: {
      $anchor: "addressDef",
      type: "object",
      properties: { street: { type: "string" }, city: { type: "string" } },
    },
  },
  properties: {
    name: { type: "string" },
    address: { $ref: "#/$defs/address" },
    contactMethod: { type: "string", enum: ["phone", "email"] },
    phone: { type: "string" },
    email: { type: "string" },
  },
  allOf: [{ anyOf: [{ required: ["phone"] }, { required: ["email"] }] }],
  if: { properties: { contactMethod: { const: "phone" } }, required: ["contactMethod"] },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: { required: ["phone"] },
  else: { required: ["email"] },
  additionalProperties: false,
};
