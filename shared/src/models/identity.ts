import { lazily } from "../core/async/lazy.ts";
import { errnoOf } from "../core/errors.ts";
import type { ModelConfig } from "./config.ts";
import { ModelFailure } from "./model-failure.ts";

/** Hosts of Azure, and the audience of its models there. */
const clouds: readonly (readonly [host: RegExp, audience: string])[] = [
  [/\.azure\.com$/i, "https://cognitiveservices.azure.com"],
  [/\.azure\.us$/i, "https://cognitiveservices.azure.us"],
  [/\.azure\.cn$/i, "https://cognitiveservices.azure.cn"],
];

/** Whether an address is Azure's. */
export function isAzure(baseUrl: string): boolean {
  const { hostname } = new URL(baseUrl);
  return clouds.some(([host]) => host.test(hostname));
}

/**
 * A fetch that shows Azure who calls, by Microsoft Entra ID: with the identity of the machine, of
 * the workload, of `AZURE_CLIENT_ID` with its secret, or of a person who is signed in. Tokens are
 * renewed before they expire, and are part of no error.
 */
export function withEntra(baseUrl: string, fetch: typeof globalThis.fetch): typeof globalThis.fetch {
  const token = entraToken(baseUrl);
  const signed = async (input: Parameters<typeof fetch>[0], init?: RequestInit) => {
    const headers = new Headers(init?.headers);
    headers.delete("api-key");
    headers.set("Authorization", `Bearer ${await token()}`);
    return fetch(input, { ...init, headers });
  };
  return signed as typeof globalThis.fetch;
}

function entraToken(baseUrl: string): () => Promise<string> {
  const { hostname } = new URL(baseUrl);
  const [, audience] = clouds.find(([host]) => host.test(hostname)) ?? clouds[0] ?? [];
  const provider = lazily(async () => {
    const { DefaultAzureCredential, getBearerTokenProvider } = await entraLibrary();
    return getBearerTokenProvider(new DefaultAzureCredential(), `${audience}/.default`);
  });
  return async () => {
    const token = await provider.get();
    return token().catch((error: unknown) => refused("Microsoft Entra ID gave no token", error, byEntra));
  };
}

/**
 * Azure's library, which the package leaves to those who need it: it is larger than all else.
 * Rejects with a ModelFailure that says how to add it.
 */
export async function entraLibrary(load = () => import("@azure/identity")): ReturnType<typeof load> {
  return await load().catch((error: unknown) => {
    if (errnoOf(error) !== "ERR_MODULE_NOT_FOUND") throw error;
    throw new ModelFailure("rejected", "Microsoft Entra ID needs the package @azure/identity, which is not installed", {
      advice: "Install it beside manyhands: `npm install @azure/identity`. Or set `llm.api_key`.",
    });
  });
}

const byEntra =
  "Set `llm.api_key`, or give the servers an identity: `az login`, AZURE_TENANT_ID, AZURE_CLIENT_ID and AZURE_CLIENT_SECRET, or a managed identity.";

type AwsCredentials = {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
};

/**
 * AWS's credentials where its own tools find them: variables, profiles, single sign-on, or the
 * identity of the machine. They are kept until they expire.
 */
export function awsCredentials(region: string | undefined): () => Promise<AwsCredentials> {
  const provider = lazily(async () => {
    const { defaultProvider } = await import("@aws-sdk/credential-provider-node");
    return defaultProvider(region === undefined ? {} : { clientConfig: { region } });
  });
  return async () => {
    const find = await provider.get();
    const found = await find().catch((error: unknown) => refused("AWS gave no credentials", error, byAws));
    const { accessKeyId, secretAccessKey, sessionToken } = found;
    return { accessKeyId, secretAccessKey, ...(sessionToken !== undefined && { sessionToken }) };
  };
}

const byAws =
  "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE, give the machine a role, or set a Bedrock API key as `llm.api_key`.";

/** Why an identity gives nothing to show. An outage of who vouches for it may pass. */
function refused(what: string, error: unknown, advice: string): never {
  const { name, message, statusCode } = error as { name?: string; message?: string; statusCode?: number };
  const why = `${what} (${name ?? "error"}: ${message?.split("\n")[0] ?? ""})`;
  if (statusCode !== undefined && statusCode >= 500) throw new ModelFailure("unavailable", why);
  throw new ModelFailure("rejected", why, { advice });
}

/**
 * Files such as OpenManus's have a word where a Bedrock API key could stand; real ones are longer.
 */
const shortestBedrockKey = 20;

/**
 * The Bedrock API key of a configuration, if it has one; OpenAI's key in the environment does not
 * count.
 */
export function bedrockKey({ apiKey = "" }: Pick<ModelConfig, "apiKey">): string | undefined {
  const isBedrocks = apiKey.length >= shortestBedrockKey && !apiKey.startsWith("sk-");
  return isBedrocks ? apiKey : process.env.AWS_BEARER_TOKEN_BEDROCK || undefined;
}

/**
 * Who calls a model that has no key of its own: undefined for one that needs nobody. Rejects with a
 * ModelFailure if there is nobody.
 */
export async function probeIdentity(config: Pick<ModelConfig, "apiType" | "apiKey" | "baseUrl" | "region">) {
  if (config.apiType === "aws" && bedrockKey(config) === undefined) {
    await awsCredentials(config.region)();
    return "credentials of AWS";
  }
  if (config.apiKey !== undefined || (config.apiType !== "azure" && !isAzure(config.baseUrl))) return undefined;
  await entraToken(config.baseUrl)();
  return "a token of Microsoft Entra ID";
}
