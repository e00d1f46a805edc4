import { type Client, specTypeSchemas, type Transport } from "@modelcontextprotocol/client";
import { isObject } from "../../../core/json.ts";
import { sanitizeLine } from "../../../core/text/sanitize.ts";

const longestWords = 200;

/**
 * Takes tools without a valid definition out of the lists that arrive over the transport, before
 * the protocol's client refuses the whole list for one of them; `leftOut` gets each one's name and
 * what is wrong with it. Call it before the transport is used.
 */
export function leaveOutInvalid(client: Client, transport: Transport, leftOut: (tool: string) => void): void {
  transport.onmessage = (message) => {
    const result = "result" in message ? message.result : undefined;
    if (!isObject(result) || !Array.isArray(result.tools)) return;
    result.tools = result.tools.filter((tool) => {
      const fault = faultOf(tool) ?? (client.getProtocolEra() === "modern" ? undefined : faultOfOld(tool));
      if (fault === undefined) return true;
      const name = isObject(tool) && typeof tool.name === "string" ? tool.name : "(without a name)";
      leftOut(sanitizeLine(`${name}: ${fault}`, longestWords));
      return false;
    });
  };
}

/** What revisions before 2026 refuse besides. */
function faultOfOld(tool: unknown): string | undefined {
  const schema = isObject(tool) ? tool.outputSchema : undefined;
  return schema === undefined || (isObject(schema) && schema.type === "object")
    ? undefined
    : "outputSchema.type: is no object";
}

function faultOf(tool: unknown): string | undefined {
  const checked = specTypeSchemas.Tool["~standard"].validate(tool);
  if (checked instanceof Promise || checked.issues === undefined) return undefined;
  const [issue] = checked.issues;
  const path = issue?.path?.map((part) => String(typeof part === "object" ? part.key : part)).join(".");
  return [path, issue?.message].filter(Boolean).join(": ");
}
