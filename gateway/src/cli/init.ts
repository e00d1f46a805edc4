import { writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { AppError } from "manyhands/internal/core/errors";
import { ownCommand } from "manyhands/internal/core/release";
import type { CliContext } from "../session/context.ts";
import { exitCodes } from "../terminal/exit-code.ts";

/** What `init` is told, in place of what it would ask. */
export type InitOptions = {
  readonly config?: string;
  readonly endpoint?: string;
  readonly keyEnv?: string;
  readonly model?: string;
  readonly yes?: boolean;
  readonly force?: boolean;
};

/**
 * An endpoint by its provider's name: where it is, the variable that customarily holds its key, and
 * a model to begin with.
 */
type Provider = { readonly url: string | undefined; readonly keyEnv: string; readonly model: string };

const providers: Readonly<Record<string, Provider>> = {
  openai: { url: undefined, keyEnv: "OPENAI_API_KEY", model: "gpt-5-mini" },
  anthropic: { url: "https://api.anthropic.com/v1", keyEnv: "ANTHROPIC_API_KEY", model: "claude-sonnet-4-5" },
  gemini: {
    url: "https://generativelanguage.googleapis.com/v1beta/openai",
    keyEnv: "GEMINI_API_KEY",
    model: "gemini-2.5-flash",
  },
  openrouter: { url: "https://openrouter.ai/api/v1", keyEnv: "OPENROUTER_API_KEY", model: "openai/gpt-5-mini" },
  ollama: { url: "http://localhost:11434/v1", keyEnv: "", model: "qwen3" },
};

/**
 * Asks which model to use and writes it to `manyhands.toml` as `[llm]`. The key itself is never
 * asked for: the file names the variable it is in. What else the file has stays; an `[llm]` that is
 * there is replaced only when the person says so.
 */
export async function initCommand(options: InitOptions, { cwd, env, terminal }: CliContext): Promise<number> {
  const path = resolve(cwd, options.config ?? "manyhands.toml");
  const file = Bun.file(path);
  const before = (await file.exists()) ? await file.text() : "";
  const ask = async (question: string, fallback: string) => {
    if (options.yes) return fallback;
    const answer = await terminal.ask(`${question}${fallback === "" ? "" : ` (${fallback})`}`);
    if (answer === undefined)
      throw new AppError(
        "invalid_input",
        "Nothing was written: nobody answered. --yes takes what is suggested; --endpoint, --key-env and --model say it.",
      );
    return answer.trim() || fallback;
  };
  if (blocksOf(before).some(isDefaultModel) && !options.force) {
    const answer = options.yes ? "no" : await ask(`${path} names a model already. Replace it?`, "no");
    if (!/^y(es)?$/i.test(answer))
      throw new AppError("invalid_input", `${path} has an [llm] already and stays as it is. --force replaces it.`);
  }
  const names = Object.keys(providers).join(", ");
  const endpoint = options.endpoint ?? (await ask(`Whose model? ${names}, or the URL of an endpoint`, "openai"));
  const provider = providerOf(endpoint, names);
  const keyEnv =
    options.keyEnv ??
    (await ask("Which variable of the environment holds the key? - for none", provider.keyEnv || "-"));
  const model = options.model ?? (await ask("Which model?", provider.model));
  if (model === "") throw new AppError("invalid_input", "Say which model: --model NAME.");
  await writeFile(path, withLlm(before, tableOf(provider, keyEnv === "-" ? "" : keyEnv, model)));
  terminal.say(`Wrote ${path}.`);
  if (keyEnv !== "-" && !env[keyEnv]) terminal.say(`Set ${keyEnv} to the key before you start.`);
  terminal.say(`See whether it works: ${ownCommand} doctor`);
  return exitCodes.ok;
}

function providerOf(endpoint: string, names: string): Provider {
  const known = providers[endpoint.toLowerCase()];
  if (known !== undefined) return known;
  if (/^https?:\/\/\S+$/i.test(endpoint) && URL.canParse(endpoint))
    return { url: endpoint, keyEnv: "OPENAI_API_KEY", model: "" };
  throw new AppError("invalid_input", `${JSON.stringify(endpoint)} is no endpoint. Allowed: ${names}, or a URL.`);
}

function tableOf({ url }: Provider, keyEnv: string, model: string): string {
  const lines = [
    "[llm]",
    `model = ${JSON.stringify(model)}`,
    ...(url === undefined ? [] : [`base_url = ${JSON.stringify(url)}`]),
    ...(keyEnv === "" ? [] : [`api_key_env = ${JSON.stringify(keyEnv)}`]),
  ];
  return `${lines.join("\n")}\n`;
}

/** The tables of a file as they are written, what comes before the first one among them. */
const blocksOf = (text: string) => text.split(/^(?=[ \t]*\[)/m);

/**
 * Whether a block says what the default model is: of another model its price and abilities would be
 * wrong.
 */
const isDefaultModel = (block: string) => /^[ \t]*\[llm(?:\.(?:capabilities|price))?\]/.test(block);

function withLlm(before: string, table: string): string {
  const kept = blocksOf(before).filter((block) => !isDefaultModel(block));
  const text = kept.join("").trimEnd();
  return text === "" ? table : `${text}\n\n${table}`;
}
