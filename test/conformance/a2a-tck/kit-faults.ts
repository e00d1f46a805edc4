/**
 * Why tests of the kit fail at a server that does what the specification says, with its paragraph.
 */
export const kitFaults: readonly { readonly test: RegExp; readonly why: string }[] = [
  {
    test: /test_error_handling\.py::TestRestErrorStructure::test_error_uses_aip193_format$/,
    why: "HTTP+JSON answers are application/a2a+json (A2A 1.0.1, 11.1 and 14.1.1); the kit takes application/json only",
  },
  {
    test: /test_transport_behavior\.py::TestRestFormat::test_response_content_type$/,
    why: "HTTP+JSON answers are application/a2a+json (A2A 1.0.1, 11.1 and 14.1.1); the kit takes application/json only",
  },
  {
    test: /test_problem_details\.py::TestAIP193ErrorFormat::test_error_content_type$/,
    why: "HTTP+JSON answers are application/a2a+json (A2A 1.0.1, 11.1 and 14.1.1); the kit takes application/json only",
  },
  {
    test: /test_http_status\.py::TestHttpJsonStatusCodes::test_content_type_not_supported_returns_415$/,
    why: "ContentTypeNotSupportedError is HTTP 400 (A2A 1.0.1, 5.4); the kit wants the 415 of 1.0.0",
  },
  {
    test: /test_status_codes\.py::TestGrpcStatusCodes::test_(version_not_supported|unsupported_operation|push_not_supported)_returns_unimplemented$/,
    why: "VersionNotSupported, UnsupportedOperation and PushNotificationNotSupported are FAILED_PRECONDITION (A2A 1.0.1, 5.4); the kit wants the UNIMPLEMENTED of 1.0.0",
  },
  {
    test: /test_requirements\.py::test_must_requirement\[CORE-SEND-003-/,
    why: "a media type that is not supported is refused (A2A 1.0.1, 3.1.1), and the kit has no `expected_error` there",
  },
  {
    test: /test_transport_behavior\.py::TestRestStreaming::test_streaming_content_type$/,
    why: "a server without streaming refuses to stream (A2A 1.0.1, 3.3.4); the kit asks it nevertheless",
  },
];
