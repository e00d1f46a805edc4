import { AppError } from "../../core/errors.ts";

const longestContext = 200;

/** The conversation a request names by its header `Manyhands-Context`. Throws `invalid_input`. */
export function contextNamed(request: Request | undefined): string | undefined {
  const context = request?.headers.get("Manyhands-Context") ?? undefined;
  if (context === undefined || (context !== "" && context.length <= longestContext)) return context;
  throw new AppError("invalid_input", `Manyhands-Context has 1 to ${longestContext} characters.`);
}
