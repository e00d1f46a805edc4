import type { EndpointAbout, endpoint, RestEndpoint } from "../endpoint.ts";
import { personalEndpoint } from "../personal-endpoint.ts";

const refusals = {
  ofRuns: "Settings are for the operator; a run cannot read or change them.",
  ofPages: "Of all web pages, only the console may read and change the settings.",
};

/**
 * An endpoint that shows or changes how the system is set up: for its operator in person, who has
 * the scope `admin`.
 */
export function operatorEndpoint<Given extends EndpointAbout["request"]>(
  about: Omit<EndpointAbout, "request" | "scope" | "tag"> & { readonly request: Given },
  run: Parameters<typeof endpoint<Given>>[1],
): RestEndpoint {
  return personalEndpoint<Given>({ ...about, tag: "settings", scope: "admin" }, refusals, run);
}
