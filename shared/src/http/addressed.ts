/**
 * The request with a whole address. HTTP/1.0 needs no Host, and Bun then gives only the path: such
 * a request is one to `own`. An invalid Host, or several, are refused with 400 (RFC 9112 3.2).
 */
export function addressed(request: Request, own: URL): Request | Response {
  const host = request.headers.get("Host") ?? "";
  if (host === "" && request.url.startsWith("/")) {
    const whole = new Request(`${own.origin}${request.url}`, request);
    whole.headers.set("Host", own.host);
    return whole;
  }
  // Bun joins several with commas, and gives only the path where the address would be none.
  if (!host.includes(",") && /^https?:/.test(request.url) && URL.canParse(request.url)) return request;
  const message = "Send one Host that is a name or an address.";
  return Response.json({ code: "invalid_input", message }, { status: 400 });
}
