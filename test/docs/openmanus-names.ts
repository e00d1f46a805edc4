const words = (text: string): readonly string[] => text.trim().split(/\s+/);

/**
 * OpenManus's tool names, and the actions and parameters of each, by their section of
 * `docs/reference/openmanus.md`.
 */
export const openManusNames: Readonly<Record<string, readonly string[]>> = {
  python_execute: words("code code_type"),
  bash: words("command restart"),
  str_replace_editor: words(
    "command view create str_replace insert undo_edit path file_text old_str new_str insert_line view_range",
  ),
  browser_use: words(`action url index text scroll_amount tab_id query goal keys seconds
    go_to_url go_back refresh web_search click_element input_text scroll_down scroll_up scroll_to_text send_keys
    get_dropdown_options select_dropdown_option extract_content switch_tab open_tab close_tab wait get_current_state`),
  web_search: words("query num_results lang country fetch_content position url title description source raw_content"),
  crawl4ai: words("urls timeout bypass_cache word_count_threshold"),
  planning: words(`command create update list get set_active mark_step delete
    plan_id title steps step_index step_status step_notes not_started in_progress completed blocked`),
  ask_human: words("inquire"),
  terminate: words("status success failure"),
  create_chat_completion: words("response"),
  visualization_preparation: words("code_type visualization insight code"),
  data_visualization: [
    ...words("json_path output_type png html tool_type visualization insight language zh en"),
    ...words("trend abnormal pearson spearman lof dbscan majority page-hinkley volatility"),
    "statistics base",
    "statistics abnormal",
    "turning point",
  ],
  computer_use: words(`move_to click scroll typing press wait mouse_down mouse_up drag_to hotkey screenshot
    x y button num_clicks amount text key duration keys`),
  "Rented sandbox": words(`sandbox_shell execute_command check_command_output terminate_command list_commands
    command folder session_name blocking timeout kill_session
    sandbox_files create_file str_replace full_file_rewrite delete_file file_path file_contents permissions old_str new_str
    sandbox_browser navigate_to go_back wait click_element input_text send_keys switch_tab close_tab scroll_down scroll_up scroll_to_text
    get_dropdown_options select_dropdown_option click_coordinates drag_drop
    url index text keys page_id amount seconds x y element_source element_target
    sandbox_vision see_image`),
  Settings: [
    ...words("[llm] model base_url api_key max_tokens max_input_tokens temperature api_type api_version [llm.NAME]"),
    ...words(
      "[browser] headless disable_security extra_chromium_args chrome_instance_path wss_url cdp_url max_content_length",
    ),
    ...words(
      "proxy.server proxy.username proxy.password [search] engine fallback_engines retry_delay max_retries lang country",
    ),
    ...words("[sandbox] use_sandbox image work_dir memory_limit cpu_limit timeout network_enabled"),
    ...words(
      "[daytona] daytona_api_key daytona_server_url daytona_target sandbox_image_name sandbox_entrypoint VNC_password",
    ),
    ...words("[mcp] server_reference [runflow] use_data_analysis_agent mcpServers type url command args ENV_MODE"),
  ],
  Flows: words("agents primary_agent_key executors plan_id parallel conditional loop debate"),
  "Ways to start it": words("main.py run_flow.py run_mcp.py run_mcp_server.py sandbox_main.py"),
};
