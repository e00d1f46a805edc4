import { chooseLanguage, language, languages, words } from "../../words/words.ts";

/** Which language the console speaks. */
export function LanguageChoice() {
  return (
    <fieldset class="choices">
      <legend class="label">{words().language}</legend>
      {Object.entries(languages).map(([code, name]) => (
        <label class="check" key={code}>
          <input
            type="radio"
            name="language"
            checked={language.value === code}
            onChange={() => chooseLanguage(code as keyof typeof languages)}
          />
          <span lang={code}>{name}</span>
        </label>
      ))}
    </fieldset>
  );
}
