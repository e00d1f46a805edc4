import { join } from "node:path";
import type { Config } from "manyhands/internal/config/config";
import { engineText } from "manyhands/internal/config/storage/engine-config";
import { leftOut, profileFor } from "manyhands/internal/config/tool-profile";
import { AppError } from "manyhands/internal/core/errors";
import { ownCommand } from "manyhands/internal/core/release";
import { createSandbox } from "manyhands/internal/machine/confinement/create-sandbox";
import type { Sandbox } from "manyhands/internal/machine/sandbox/sandbox";
import { traitsOf } from "manyhands/internal/models/capabilities";
import type { ModelConfig } from "manyhands/internal/models/config";
import { probeIdentity } from "manyhands/internal/models/identity";
import { listModels } from "manyhands/internal/models/list-models";
import { ModelFailure } from "manyhands/internal/models/model-failure";
import { openBrowser } from "manyhands/internal/server/machine/open-browser";
import { probeEngine } from "manyhands/internal/server/storage/open-engine";
import { probeBucket } from "manyhands/internal/server/storage/probe-bucket";
import { importName, lookForPython } from "manyhands/internal/tools/python/find-python";
import { machineFailure } from "../terminal/machine-failure.ts";

/** One finding of the doctor: its state and, unless that is ok, what to do. */
export type DoctorCheck = { readonly name: string; readonly state: "ok" | "warn" | "fail"; readonly text: string };

const timeoutMs = 8000;
/**
 * Whether the configured endpoint answers, accepts the key and has the model. Never shows the key.
 */
export async function checkModel(model: ModelConfig | undefined): Promise<DoctorCheck> {
  const name = "model";
  if (model === undefined)
    return {
      name,
      state: "warn",
      text: "not configured: the rehearsal model is used, which knows only the demo. Set OPENAI_API_KEY and MANYHANDS_MODEL (and OPENAI_BASE_URL for another endpoint).",
    };
  const where = `${model.name} at ${new URL(model.baseUrl).host}`;
  try {
    const list = await listModels(model, AbortSignal.timeout(timeoutMs));
    if (list === undefined) return { name, ...(await identityCheck(where, model)) };
    const { status, models } = list;
    if (status === 401 || status === 403)
      return {
        name,
        state: "fail",
        text: `${where} refuses the key (HTTP ${status}). Check llm.api_key (OPENAI_API_KEY).`,
      };
    if (status >= 300) return { name, state: "warn", text: `${where} answers, but lists no models (HTTP ${status})` };
    if (models?.every(({ id }) => id !== model.name))
      return {
        name,
        state: "warn",
        text: `${where}: the endpoint does not list ${model.name}. Check llm.model (MANYHANDS_MODEL).`,
      };
    return { name, ...windowCheck(where, model, models?.find(({ id }) => id === model.name)?.window) };
  } catch {
    return {
      name,
      state: "fail",
      text: `${where} cannot be reached. Check llm.base_url (OPENAI_BASE_URL) and the network.`,
    };
  }
}

/** Clouds list no models: what can be seen without a request that costs something is who calls. */
async function identityCheck(where: string, model: ModelConfig): Promise<Pick<DoctorCheck, "state" | "text">> {
  try {
    const identity = await probeIdentity(model);
    return { state: "ok", text: `${where}, with ${identity ?? "a key"} (the model itself is not asked)` };
  } catch (error) {
    if (!(error instanceof ModelFailure)) throw error;
    return { state: "fail", text: `${where}: ${error.message}. ${error.advice ?? ""}`.trim() };
  }
}

/** Whether prompts are kept within the window that the endpoint says it has. */
function windowCheck(
  where: string,
  model: ModelConfig,
  known: number | undefined,
): Pick<DoctorCheck, "state" | "text"> {
  const { contextWindow, vision, reasoning } = traitsOf(model);
  if (known !== undefined && known < contextWindow)
    return {
      state: "warn",
      text: `${where} keeps a window of ${known} tokens, and ${contextWindow} are assumed. Set context_window = ${known} in [llm.capabilities].`,
    };
  const profile = profileFor(model);
  const without = [...leftOut(profile)].join(", ");
  const limits = profile === "full" ? "" : `, so agents work without ${without} (profile ${profile})`;
  const takes = [vision ? "images" : "text only", ...(reasoning ? ["thinks"] : [])].join(", ");
  return { state: "ok", text: `${where}, a window of ${contextWindow} tokens, ${takes}${limits}` };
}

/** Whether files can be kept in the bucket that the settings name; nothing if they name none. */
export async function checkBucket({ bucket }: Pick<Config, "bucket">): Promise<readonly DoctorCheck[]> {
  if (bucket === undefined) return [];
  const name = "bucket";
  try {
    return [{ name, state: "ok", text: await probeBucket(bucket) }];
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return [{ name, state: "fail", text: `${error.message} Check [artifacts], and what its key may do.` }];
  }
}

/** Where runs are stored, and whether that can be reached. */
export async function checkEngine(config: Pick<Config, "engine" | "home">): Promise<DoctorCheck> {
  const name = "engine";
  try {
    return { name, state: "ok", text: await probeEngine(config) };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    // What is wrong with a database says where that is.
    const isNamed = config.engine.kind !== "embedded" && error.code === "storage_unavailable";
    const where = isNamed ? "" : `${engineText(config.engine, config.home)}: `;
    return { name, state: "fail", text: `${where}${error.message}` };
  }
}

/**
 * The sandbox tier of this machine, found by trying it, as a server does when it starts; and the
 * libraries that Python has in it.
 */
export async function checkSandbox(config: Config): Promise<DoctorCheck[]> {
  const { sandbox: settings, python, home } = config;
  const folder = join(home, "workspaces");
  const sandbox = await createSandbox({ mode: settings.tier, folder, python: python.environment }).catch(shortOf);
  if (sandbox instanceof AppError) return [{ name: "sandbox", state: "fail", text: sandbox.message }];
  try {
    const { tier, description } = sandbox;
    if (tier === "none")
      return [{ name: "sandbox", state: "warn", text: `none, so shell and Python are off: ${description}` }];
    const confined: DoctorCheck =
      tier === "off"
        ? { name: "sandbox", state: "warn", text: `off: ${description}` }
        : { name: "sandbox", state: "ok", text: description };
    return [confined, ...(await checkLibraries(sandbox, python.packages))];
  } finally {
    await sandbox.close();
  }
}

/** The error for a sandbox that could not be tried out; any other is a bug. */
function shortOf(error: unknown): AppError {
  if (error instanceof AppError) return error;
  throw error;
}

/** None without a Python, which the list of programs tells. */
async function checkLibraries(sandbox: Sandbox, packages: readonly string[]): Promise<DoctorCheck[]> {
  const { found } = await lookForPython(sandbox, packages);
  const python = await found.catch(() => undefined);
  if (python === undefined || packages.length === 0) return [];
  const missing = packages.map(importName).filter((name) => !python.libraries.includes(name));
  const has = `Python ${python.version} with ${python.libraries.join(", ") || "no libraries but its own"}`;
  if (missing.length === 0) return [{ name: "libraries", state: "ok", text: has }];
  return [{ name: "libraries", state: "warn", text: `${has}; ${ownCommand} setup installs ${missing.join(", ")}` }];
}

const page = "<!doctype html><title>before</title><script>document.title = 'after'</script>";

/**
 * Whether the browser opens a page of this process and runs its script, through the same proxy as a
 * conversation's pages. A remote browser cannot reach this machine and opens an empty page.
 */
export async function checkBrowser({ home, browser }: Config): Promise<DoctorCheck> {
  const site = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: () => new Response(page, { headers: { "content-type": "text/html" } }),
  });
  const allow = [`127.0.0.1:${site.port}`];
  const elsewhere = browser.cdp_url !== undefined || browser.wss_url !== undefined;
  try {
    // The operator's own proxy cannot reach this machine either.
    const near = { home, browser: { ...browser, proxy: {} }, egress: { allow, deny: [], only: [], proxy: undefined } };
    const { browsers, missing } = await openBrowser(near);
    if (browsers === undefined) return { name: "browser", state: "warn", text: missing };
    try {
      const options = { signal: AbortSignal.timeout(60_000), timeoutMs: 20_000 };
      const { html } = await browsers.render(elsewhere ? "about:blank" : `http://127.0.0.1:${site.port}/`, options);
      const { kind, version, sandbox, egress } = browsers.describe();
      if (!elsewhere && !html.includes("<title>after</title>"))
        return { name: "browser", state: "fail", text: "It opens pages but runs no scripts." };
      return { name: "browser", state: "ok", text: `${kind} ${version}, sandbox: ${sandbox}, policy: ${egress}` };
    } finally {
      await browsers.close();
    }
  } catch (error) {
    const text = error instanceof AppError ? error.message : machineFailure(error);
    if (text === undefined) throw error;
    return { name: "browser", state: "fail", text };
  } finally {
    await site.stop(true);
  }
}
