import { readFile, realpath } from "node:fs/promises";
import { resolve } from "node:path";
import { AppError, unlessMissing } from "manyhands/internal/core/errors";
import { ownCommand } from "manyhands/internal/core/release";
import { underLock } from "manyhands/internal/machine/workspace/own-files/file-lock";
import { replaceFile } from "manyhands/internal/machine/workspace/own-files/replace-file";
import type { CliContext } from "../session/context.ts";
import { tableOf, withKeys } from "../settings/toml-text.ts";
import { exitCodes } from "../terminal/exit-code.ts";

/** Answers given as options, instead of questions. */
export type InitOptions = {
  readonly config?: string;
  readonly endpoint?: string;
  readonly keyEnv?: string;
  readonly model?: string;
  readonly yes?: boolean;
  readonly force?: boolean;
};

/**
 * A provider: its URL, the protocol if the URL does not say it, the variable that customarily holds
 * its key, and a model to start with. Where its cloud knows who calls, it needs no key.
 */
type Provider = {
  readonly url: string | undefined;
  readonly apiType?: string;
  readonly keyEnv: string;
  readonly model: string;
};

const providers: Readonly<Record<string, Provider>> = {
  openai: { url: undefined, keyEnv: "OPENAI_API_KEY", model: "gpt-5-mini" },
  anthropic: { url: "https://api.anthropic.com/v1", keyEnv: "ANTHROPIC_API_KEY", model: "claude-sonnet-4-5" },
  gemini: {
    url: "https://generativelanguage.googleapis.com/v1beta",
    keyEnv: "GEMINI_API_KEY",
    model: "gemini-2.5-flash",
  },
  bedrock: {
    url: "bedrock-runtime.us-east-1.amazonaws.com",
    apiType: "aws",
    keyEnv: "",
    model: "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
  },
  openrouter: { url: "https://openrouter.ai/api/v1", keyEnv: "OPENROUTER_API_KEY", model: "openai/gpt-5-mini" },
  ollama: { url: "http://localhost:11434/v1", keyEnv: "", model: "qwen3" },
};

/**
 * Asks which model to use and writes it to `manyhands.toml` as `[llm]`. It never asks for the key:
 * the file names the variable that holds it. The rest of the file stays; an existing `[llm]` is
 * replaced only if the person says so.
 */
export async function initCommand(options: InitOptions, { cwd, env, terminal }: CliContext): Promise<number> {
  const path = resolve(cwd, options.config ?? "manyhands.toml");
  const ask = async (question: string, fallback: string) => {
    if (options.yes) return fallback;
    const answer = await terminal.ask(`${question}${fallback === "" ? "" : ` (${fallback})`}`);
    if (answer === undefined)
      throw new AppError(
        "invalid_input",
        "Nothing written: no answer. Use --yes for the suggestions, or --endpoint, --key-env and --model.",
      );
    return answer.trim() || fallback;
  };
  if (defaultModelKeys(await readOrEmpty(path)).length > 0 && !options.force) {
    const answer = options.yes ? "no" : await terminal.ask(`${path} already names a model. Replace it? (no)`);
    if (!/^y(es)?$/i.test(answer?.trim() ?? ""))
      throw new AppError("invalid_input", `${path} already has an [llm] and was not changed. --force replaces it.`);
  }
  const names = Object.keys(providers).join(", ");
  const endpoint = options.endpoint ?? (await ask(`Which provider? ${names}, or the URL of an endpoint`, "openai"));
  const provider = providerOf(endpoint, names);
  const keyEnv =
    options.keyEnv ?? (await ask("Which environment variable holds the key? - for none", provider.keyEnv || "-"));
  const model = options.model ?? (await ask("Which model?", provider.model));
  if (model === "") throw new AppError("invalid_input", "Name a model: --model NAME.");
  const target = (await realpath(path).catch(unlessMissing)) ?? path;
  const llm = llmOf(provider, keyEnv === "-" ? "" : keyEnv, model);
  await underLock(target, async () => {
    const before = await readOrEmpty(target);
    const gone = Object.fromEntries(defaultModelKeys(before).map((key) => [key, undefined]));
    await replaceFile(target, withKeys(before, "llm", { ...gone, ...llm }));
  });
  terminal.say(`Wrote ${path}.`);
  if (keyEnv !== "-" && !env[keyEnv]) terminal.say(`Set ${keyEnv} to your key before you start.`);
  terminal.say(`Check it with: ${ownCommand} doctor`);
  return exitCodes.ok;
}

function providerOf(endpoint: string, names: string): Provider {
  const known = providers[endpoint.toLowerCase()];
  if (known !== undefined) return known;
  if (/^https?:\/\/\S+$/i.test(endpoint) && URL.canParse(endpoint))
    return { url: endpoint, keyEnv: "OPENAI_API_KEY", model: "" };
  throw new AppError("invalid_input", `${JSON.stringify(endpoint)} is not an endpoint. Allowed: ${names}, or a URL.`);
}

function llmOf({ url, apiType }: Provider, keyEnv: string, model: string) {
  return {
    model,
    ...(apiType !== undefined && { api_type: apiType }),
    ...(url !== undefined && { base_url: url }),
    ...(keyEnv !== "" && { api_key_env: keyEnv }),
  };
}

const readOrEmpty = async (path: string) => (await readFile(path, "utf8").catch(unlessMissing)) ?? "";

/**
 * What a text says of the default model. A table is another model's, but for price and
 * capabilities: they would be wrong for the new one.
 */
function defaultModelKeys(text: string): string[] {
  const llm = Object.entries(tableOf(text, "llm"));
  return llm
    .filter(([key, value]) => ["price", "capabilities"].includes(key) || typeof value !== "object")
    .map(([key]) => key);
}
