import type { OptionSchema } from "../api/catalog.ts";
import { safeText } from "../words/format.ts";
import { words } from "../words/words.ts";

/** What was entered, by the option's name: text as typed, or whether a box is ticked. */
export type Entered = Readonly<Record<string, string | boolean>>;
type Schemas = Readonly<Record<string, OptionSchema>>;

/**
 * Fields for the options of a flow, made from their JSON Schema: simple types get an input, all
 * others a box for JSON.
 */
export function OptionFields({
  schemas,
  entered,
  onChange,
}: {
  readonly schemas: Schemas;
  readonly entered: Entered;
  readonly onChange: (entered: Entered) => void;
}) {
  return (
    <div class="options">
      {Object.entries(schemas).map(([name, about]) => (
        <Field
          key={name}
          name={name}
          about={about}
          value={entered[name]}
          onChange={(value) => onChange({ ...entered, [name]: value })}
        />
      ))}
    </div>
  );
}

type FieldProps = {
  readonly name: string;
  readonly about: OptionSchema;
  readonly value: string | boolean | undefined;
  readonly onChange: (value: string | boolean) => void;
};

function Field({ name, about, value, onChange }: FieldProps) {
  const id = `option-${name}`;
  const note = about.description === undefined ? undefined : `about-${name}`;
  const described = note === undefined ? {} : { "aria-describedby": note };
  const text = typeof value === "string" ? value : "";
  return (
    <div class="option">
      {about.type === "boolean" ? (
        <label class="check">
          <input
            id={id}
            type="checkbox"
            checked={typeof value === "boolean" ? value : about.default === true}
            onChange={(event) => onChange(event.currentTarget.checked)}
            {...described}
          />
          {name}
        </label>
      ) : (
        <>
          <label class="label" for={id}>
            {name}
          </label>
          <Input id={id} about={about} text={text} described={described} onChange={onChange} />
        </>
      )}
      {note !== undefined && (
        <p id={note} class="t3 small">
          {safeText(about.description ?? "")}
        </p>
      )}
    </div>
  );
}

type InputProps = {
  readonly id: string;
  readonly about: OptionSchema;
  readonly text: string;
  readonly described: { readonly "aria-describedby"?: string };
  readonly onChange: (value: string) => void;
};

function Input({ id, about, text, described, onChange }: InputProps) {
  const placeholder = about.default === undefined ? "" : JSON.stringify(about.default);
  const common = { id, ...described, value: text };
  const onInput = (event: { currentTarget: { value: string } }) => onChange(event.currentTarget.value);
  if (Array.isArray(about.enum))
    return (
      <div class="field">
        <select {...common} onChange={onInput}>
          <option value="">{words().byDefault}</option>
          {about.enum.map((one) => (
            <option key={one} value={one}>
              {one}
            </option>
          ))}
        </select>
      </div>
    );
  if (isNumber(about))
    return (
      <div class="field">
        <input
          {...common}
          type="number"
          placeholder={placeholder}
          step={about.type === "integer" ? 1 : "any"}
          {...(about.minimum !== undefined && { min: about.minimum })}
          {...(about.maximum !== undefined && { max: about.maximum })}
          onInput={onInput}
        />
      </div>
    );
  if (about.type === "string")
    return (
      <div class="field">
        <input {...common} type="text" placeholder={placeholder.replace(/^"|"$/g, "")} onInput={onInput} />
      </div>
    );
  return (
    <div class="field area">
      <textarea {...common} rows={3} spellcheck={false} placeholder={placeholder || "JSON"} onInput={onInput} />
    </div>
  );
}

const isNumber = ({ type }: OptionSchema) => type === "integer" || type === "number";

/**
 * The options that were set, as the API takes them. Throws an Error that names the option whose
 * JSON is invalid.
 */
export function readOptions(schemas: Schemas, entered: Entered): Record<string, unknown> {
  const set = Object.entries(schemas).flatMap(([name, about]): [string, unknown][] => {
    const value = entered[name];
    if (value === undefined || value === "") return [];
    if (typeof value === "boolean") return value === (about.default === true) ? [] : [[name, value]];
    if (isNumber(about)) return [[name, Number(value)]];
    if (about.type === "string" || Array.isArray(about.enum)) return [[name, value]];
    return value.trim() === "" ? [] : [[name, parsed(name, value)]];
  });
  return Object.fromEntries(set);
}

/** How given options look in the fields. */
export function enteredOf(schemas: Schemas, given: Readonly<Record<string, unknown>>): Entered {
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => {
      const isPlain = typeof value === "boolean" || typeof value === "string";
      const isText = schemas[name]?.type === "string" || Array.isArray(schemas[name]?.enum);
      return [name, typeof value === "boolean" || (isPlain && isText) ? value : JSON.stringify(value, undefined, 2)];
    }),
  );
}

function parsed(name: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(words().badJson(name, error instanceof Error ? error.message : ""));
  }
}
