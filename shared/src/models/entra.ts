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
  const { hostname } = new URL(baseUrl);
  const [, audience] = clouds.find(([host]) => host.test(hostname)) ?? clouds[0] ?? [];
  let provider: Promise<() => Promise<string>> | undefined;
  const token = async () => {
    provider ??= import("@azure/identity").then(({ DefaultAzureCredential, getBearerTokenProvider }) =>
      getBearerTokenProvider(new DefaultAzureCredential(), `${audience}/.default`),
    );
    return (await provider)();
  };
  const signed = async (input: Parameters<typeof fetch>[0], init?: RequestInit) => {
    const headers = new Headers(init?.headers);
    headers.delete("api-key");
    headers.set("Authorization", `Bearer ${await token().catch(refused)}`);
    return fetch(input, { ...init, headers });
  };
  return signed as typeof globalThis.fetch;
}

/** Why there is no token. An outage of the sign-in service may pass. */
function refused(error: unknown): never {
  const { name, message, statusCode } = error as { name?: string; message?: string; statusCode?: number };
  const why = `Microsoft Entra ID gave no token (${name ?? "error"}: ${message?.split("\n")[0] ?? ""})`;
  if (statusCode !== undefined && statusCode >= 500) throw new ModelFailure("unavailable", why);
  throw new ModelFailure("rejected", why, {
    advice:
      "Set `llm.api_key`, or give the servers an identity: `az login`, AZURE_TENANT_ID, AZURE_CLIENT_ID and AZURE_CLIENT_SECRET, or a managed identity.",
  });
}
