import { fileURLToPath, pathToFileURL } from "node:url";
import * as z from "zod";
import { AppError } from "../../../core/errors.ts";
import type { Sandbox } from "../../../machine/sandbox/sandbox.ts";
import { connectRpc, type RpcConnection } from "./rpc-connection.ts";
import { type CodeLanguage, noServer, serverScript } from "./servers.ts";

/** Lines and columns from 0, columns in UTF-16 units. */
export type SourcePosition = { readonly path: string; readonly line: number; readonly column: number };

/** What a language server finds wrong. */
export type Problem = SourcePosition & { readonly severity: "error" | "warning"; readonly message: string };

/** A question about one file of a project. */
export type ServerQuestion = {
  readonly language: CodeLanguage;
  /** The absolute paths of the workspace, the project's folder and the file. */
  readonly workspace: string;
  readonly folder: string;
  readonly file: string;
  readonly text: string;
};

/** What one server tells about one file, while it runs. */
export type ServerAnswers = {
  places(what: "definition" | "references", at: Omit<SourcePosition, "path">): Promise<readonly SourcePosition[]>;
  problems(): Promise<readonly Problem[]>;
};

const position = z.looseObject({ line: z.int(), character: z.int() });
const range = z.looseObject({ start: position });
const location = z.union([
  z.object({ uri: z.string(), range }),
  z.object({ targetUri: z.string(), targetSelectionRange: range }).transform((link) => ({
    uri: link.targetUri,
    range: link.targetSelectionRange,
  })),
]);
const locations = z.union([z.array(location), location.transform((one) => [one])]).nullish();
const diagnostic = z.looseObject({ range, severity: z.int().optional(), message: z.string() });
const published = z.looseObject({ uri: z.string(), diagnostics: z.array(diagnostic) });
const pulled = z.looseObject({ items: z.array(diagnostic).optional() });
const initialized = z.looseObject({ capabilities: z.looseObject({ diagnosticProvider: z.unknown().optional() }) });

const answerMs = 60_000;
/** A server may publish nothing for a file at first, and the rest when it has read the project. */
const settleMs = 2_000;

/**
 * Starts the language's server in the sandbox for one question and ends it after. Rejects with
 * `unsupported` when none is installed, `timeout`, `unavailable`, `rejected`, or the signal's
 * reason.
 */
export async function askServer<T>(
  question: ServerQuestion,
  { sandbox, signal }: { readonly sandbox: Sandbox; readonly signal: AbortSignal },
  ask: (answers: ServerAnswers) => Promise<T>,
): Promise<T> {
  signal.throwIfAborted();
  const argv = ["sh", "-c", serverScript(question.language), "sh", question.folder];
  const limits = { wallMs: answerMs, processes: 100, outputBytes: Number.MAX_SAFE_INTEGER };
  const process = await sandbox.spawn({ argv, workspace: question.workspace, limits });
  const late = AbortSignal.timeout(answerMs);
  const stop = () => process.kill();
  const either = AbortSignal.any([signal, late]);
  either.addEventListener("abort", stop);
  if (either.aborted) stop();
  void drain(process.stderr);
  try {
    const connection = connectRpc(process, answerTo);
    return await ask(await opened(connection, question));
  } catch (error) {
    signal.throwIfAborted();
    if (late.aborted)
      throw new AppError("timeout", `The language server did not answer within ${answerMs / 1000} s.`, {
        cause: error,
      });
    if (error instanceof AppError && error.code === "unavailable" && (await process.exited) === noServer)
      throw new AppError(
        "unsupported",
        `No language server for this file is installed (${question.language.install}).`,
      );
    throw error;
  } finally {
    either.removeEventListener("abort", stop);
    stop();
  }
}

async function opened(
  connection: RpcConnection,
  { language, folder, file, text }: ServerQuestion,
): Promise<ServerAnswers> {
  const uri = pathToFileURL(file).href;
  const rootUri = pathToFileURL(folder).href;
  const { capabilities } = initialized.parse(
    await connection.request("initialize", {
      processId: null,
      rootUri,
      workspaceFolders: [{ uri: rootUri, name: "project" }],
      capabilities: {
        workspace: { configuration: true, workspaceFolders: true },
        textDocument: { publishDiagnostics: {}, diagnostic: {}, definition: { linkSupport: true }, references: {} },
      },
    }),
  );
  let last: z.output<typeof published>["diagnostics"] | undefined;
  let arrived = Promise.withResolvers<void>();
  connection.on("textDocument/publishDiagnostics", (params) => {
    const { data } = published.safeParse(params);
    if (data?.uri !== uri) return;
    last = data.diagnostics;
    arrived.resolve();
    arrived = Promise.withResolvers();
  });
  /** The last list that a server publishes before it is quiet. */
  const settled = async () => {
    if (last === undefined) await Promise.race([arrived.promise, connection.ended]);
    while (
      (await Promise.race([arrived.promise.then(() => "arrived"), connection.ended, Bun.sleep(settleMs)])) === "arrived"
    );
    return last ?? [];
  };
  connection.notify("initialized", {});
  connection.notify("textDocument/didOpen", { textDocument: { uri, languageId: language.id, version: 1, text } });
  const textDocument = { uri };
  return {
    async places(what, { line, column }) {
      const found = await connection.request(`textDocument/${what}`, {
        textDocument,
        position: { line, character: column },
        ...(what === "references" && { context: { includeDeclaration: true } }),
      });
      return (locations.parse(found) ?? []).map((one) => positionOf(one.uri, one.range));
    },
    async problems() {
      const { diagnosticProvider } = capabilities;
      const items =
        diagnosticProvider == null
          ? await settled()
          : (pulled.parse(await connection.request("textDocument/diagnostic", { textDocument })).items ?? []);
      return items
        .filter(({ severity = 1 }) => severity <= 2)
        .map((one) => ({
          ...positionOf(uri, one.range),
          severity: one.severity === 2 ? ("warning" as const) : ("error" as const),
          message: one.message,
        }));
    },
  };
}

function positionOf(uri: string, { start }: z.output<typeof range>): SourcePosition {
  const path = URL.canParse(uri) && new URL(uri).protocol === "file:" ? fileURLToPath(uri) : uri;
  return { path, line: start.line, column: start.character };
}

/** Servers ask for settings, of which there are none, and for leave, which they have. */
function answerTo(method: string, params: unknown): unknown {
  if (method !== "workspace/configuration") return null;
  const { items } = z.looseObject({ items: z.array(z.unknown()) }).parse(params);
  return items.map(() => ({}));
}

async function drain(stream: ReadableStream<Uint8Array>): Promise<void> {
  for await (const _ of stream);
}
