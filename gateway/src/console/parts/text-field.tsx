import type { JSX } from "preact";

type Props = {
  readonly id: string;
  readonly label: string;
  readonly value: string;
  readonly note?: string | undefined;
  /** Several lines. */
  readonly rows?: number;
  readonly onValue: (value: string) => void;
  readonly type?: "text" | "url" | "password" | "number";
  readonly placeholder?: string;
  readonly required?: boolean;
  readonly min?: number;
  readonly max?: number;
  readonly autocomplete?: "off";
};

/** A labelled field for a text, with a note below it. */
export function TextField({ id, label, value, note, rows, onValue, ...rest }: Props) {
  const described = note === undefined ? {} : { "aria-describedby": `${id}-note` };
  const onInput = (event: { currentTarget: { value: string } }) => onValue(event.currentTarget.value);
  return (
    <div class="text-field">
      <label class="label" for={id}>
        {label}
      </label>
      {rows === undefined ? (
        <div class="field">
          <input
            id={id}
            value={value}
            onInput={onInput}
            spellcheck={false}
            {...described}
            {...(rest as JSX.IntrinsicElements["input"])}
          />
        </div>
      ) : (
        <div class="field area">
          <textarea id={id} value={value} rows={rows} onInput={onInput} spellcheck={false} {...described} />
        </div>
      )}
      {note !== undefined && (
        <p id={`${id}-note`} class="t3 small note">
          {note}
        </p>
      )}
    </div>
  );
}
