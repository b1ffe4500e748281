// Generated from schemas/platform.openapi.yaml by `npm run generate`.
import type {LocalFile} from './operation.ts';

/**
 * A new agent, in write names.
 */
export type AgentCreate = AgentUpdate & {
  /**
   * The organization that owns the agent. Configured as `organization`: a name from `organizations`, or an id.
   */
  organizationId: string;
  /**
   * Display name. With the organization it is how an agent is recognised when there is no state.
   */
  name: string;
  [k: string]: unknown;
};
/**
 * A new e-mail template. The platform also takes a text of up to 300 characters and a list of texts, whose names the specification does not show.
 */
export type EmailTemplateCreate = EmailTemplateUpdate & {
  /**
   * The organization that owns the template. Configured as `organization`.
   */
  organization_id: string;
  /**
   * Unique in the organization.
   */
  name: string;
  /**
   * A new template starts as `draft` or `active`.
   */
  status?: 'draft' | 'active';
  [k: string]: unknown;
};
/**
 * A new SMS template.
 */
export type SmsTemplateCreate = SmsTemplateUpdate & {
  /**
   * The organization that owns the template. Configured as `organization`.
   */
  organization_id: string;
  /**
   * Unique in the organization.
   */
  name: string;
  /**
   * Cannot be changed once the template exists; another value replaces the template.
   */
  message_type: 'sms' | 'mms';
  /**
   * A new template starts as `draft` or `active`.
   */
  status?: 'draft' | 'active';
  [k: string]: unknown;
};
/**
 * A new retry policy.
 */
export type RetryPolicyCreate = RetryPolicyUpdate & {
  /**
   * Unique in the account; how a policy is recognised when there is no state.
   */
  name: string;
  [k: string]: unknown;
};
/**
 * One of the three shapes that errors come in.
 */
export type ApiError = CodedError | ValidationError | FlatError;
/**
 * What is wrong with a request, field by field. The three forms belong to different endpoints.
 */
export type ValidationError = SchemaError | IssuesError | DetailsError;

/**
 * What each operation takes and answers.
 */
export interface Operations {
  createToken: {
    body: TokenRequest;
    answer: Token;
  };
  getMe: {
    answer: Account;
  };
  listAgents: {
    query: {
      /**
       * Only what this organization owns.
       */
      organization_id?: string;
      /**
       * Which page, counted from 1.
       */
      page?: number;
      /**
       * Records per page.
       */
      limit?: number;
    };
    answer: {
      data: AgentSummary[];
      pagination: Pagination;
      [k: string]: unknown;
    };
  };
  createAgent: {
    body: AgentCreate;
    answer: AgentAnswer;
  };
  getAgent: {
    path: {
      /**
       * The agent.
       */
      agentId: string;
    };
    answer: AgentAnswer;
  };
  updateAgent: {
    path: {
      /**
       * The agent.
       */
      agentId: string;
    };
    body: AgentUpdate;
    answer: AgentAnswer;
  };
  deleteAgent: {
    path: {
      /**
       * The agent.
       */
      agentId: string;
    };
  };
  listAgentHistory: {
    path: {
      /**
       * The agent.
       */
      agentId: string;
    };
    query: {
      /**
       * How many entries to return, counted from the newest.
       */
      limit?: number;
    };
    answer: {
      data: HistoryEntry[];
      [k: string]: unknown;
    };
  };
  revertAgent: {
    path: {
      /**
       * The agent.
       */
      agentId: string;
      /**
       * The `id` of a history entry; not its `version`.
       */
      versionId: number;
    };
    answer: {
      /**
       * True.
       */
      success: boolean;
      /**
       * What was done.
       */
      message: string;
      [k: string]: unknown;
    };
  };
  setSipRegistration: {
    path: {
      /**
       * The agent.
       */
      agentId: string;
    };
    /**
     * The flag and nothing else.
     */
    body: {
      /**
       * Whether the agent is to be registered.
       */
      registrationEnabled: boolean;
    };
    answer: {
      /**
       * True.
       */
      success: boolean;
      data: SipRegistration;
      [k: string]: unknown;
    };
  };
  getPaymentReadiness: {
    path: {
      /**
       * The agent.
       */
      agentId: string;
    };
    query: {
      /**
       * Ask the payment processor again instead of answering from the cache.
       */
      refresh?: boolean;
    };
    answer: PaymentReadiness;
  };
  setPaymentTool: {
    path: {
      /**
       * The agent.
       */
      agentId: string;
    };
    /**
     * The settings to change; those left out stay.
     */
    body: {
      /**
       * Whether the agent may send payment links.
       */
      enabled?: boolean;
      /**
       * Where a payer ends up.
       */
      success_url?: string;
      /**
       * Largest single charge, in cents.
       */
      max_single_charge_cents?: number;
      /**
       * Most that one call may charge, in cents.
       */
      max_per_call_cents?: number;
      /**
       * Payment links per call.
       */
      max_attempts_per_call?: number;
      [k: string]: unknown;
    };
    answer: PaymentReadiness;
  };
  listFeatures: {
    query: {
      /**
       * Resolve locks of the organization, its reseller and the account.
       */
      organization_id?: string;
      /**
       * Resolve locks of the reseller and the account.
       */
      reseller_id?: string;
    };
    answer: FeatureMatrix;
  };
  listLlmModels: {
    query: {
      /**
       * Leave out what is locked for this organization; otherwise only what the account locks.
       */
      organization_id?: string;
    };
    answer: {
      data: LlmModel[];
      [k: string]: unknown;
    };
  };
  listSttProviders: {
    answer: {
      data: SttProvider[];
      [k: string]: unknown;
    };
  };
  listCustomVoices: {
    query: {
      /**
       * The organization.
       */
      organizationId: string;
    };
    answer: {
      data: CustomVoice[];
      [k: string]: unknown;
    };
  };
  createCustomVoice: {
    form: {
      /**
       * The recording, mp3, wav, flac, ogg or webm, at most 4 MB.
       */
      clip: LocalFile;
      /**
       * Unique in the organization.
       */
      name: string;
      /**
       * Language of the voice; agents that use it speak it.
       */
      language?:
        | 'en'
        | 'fr'
        | 'de'
        | 'es'
        | 'pt'
        | 'zh'
        | 'ja'
        | 'hi'
        | 'it'
        | 'ko'
        | 'nl'
        | 'pl'
        | 'ru'
        | 'sv'
        | 'tr'
        | 'tl'
        | 'bg'
        | 'ro'
        | 'ar'
        | 'cs'
        | 'el'
        | 'fi'
        | 'hr'
        | 'ms'
        | 'sk'
        | 'da'
        | 'ta'
        | 'uk'
        | 'hu'
        | 'no'
        | 'vi'
        | 'bn'
        | 'th'
        | 'he'
        | 'ka'
        | 'id'
        | 'te'
        | 'gu'
        | 'kn'
        | 'ml'
        | 'mr'
        | 'pa';
      /**
       * That the speaker agreed; the text `true`.
       */
      consent: 'true';
      /**
       * The organization that is to own the voice.
       */
      organizationId: string;
      /**
       * What the voice is for.
       */
      description?: string;
    };
    answer: CustomVoiceAnswer;
  };
  listKnowledgeSources: {
    path: {
      /**
       * The knowledge base, which is made in the dashboard.
       */
      knowledgeBaseId: string;
    };
    answer: {
      data: KnowledgeSource[];
      [k: string]: unknown;
    };
  };
  createKnowledgeSource: {
    path: {
      /**
       * The knowledge base, which is made in the dashboard.
       */
      knowledgeBaseId: string;
    };
    body: (UrlSourceCreate | FileSourceCreate) & {
      /**
       * Which of the two shapes the body has.
       */
      sourceType: 'url' | 'file';
      [k: string]: unknown;
    };
    answer: {
      data: KnowledgeSourceCreated;
      [k: string]: unknown;
    };
  };
  enqueueKnowledgeSource: {
    path: {
      /**
       * The knowledge base, which is made in the dashboard.
       */
      knowledgeBaseId: string;
      /**
       * The document's source.
       */
      sourceId: string;
    };
    answer: {
      /**
       * True.
       */
      success: boolean;
      [k: string]: unknown;
    };
  };
  listEmailTemplates: {
    query: {
      /**
       * Only what this organization owns.
       */
      organization_id?: string;
      /**
       * Only templates in this state.
       */
      status?: 'draft' | 'active' | 'archived';
      /**
       * Which page, counted from 1.
       */
      page?: number;
      /**
       * Records per page.
       */
      limit?: number;
    };
    answer: {
      data: EmailTemplate[];
      pagination?: Pagination;
      [k: string]: unknown;
    };
  };
  createEmailTemplate: {
    body: EmailTemplateCreate;
    answer: EmailTemplateAnswer;
  };
  getEmailTemplate: {
    path: {
      /**
       * The template.
       */
      templateId: string;
    };
    answer: EmailTemplateAnswer;
  };
  updateEmailTemplate: {
    path: {
      /**
       * The template.
       */
      templateId: string;
    };
    body: EmailTemplateUpdate;
    answer: EmailTemplateAnswer;
  };
  deleteEmailTemplate: {
    path: {
      /**
       * The template.
       */
      templateId: string;
    };
  };
  listSmsTemplates: {
    query: {
      /**
       * Only what this organization owns.
       */
      organization_id?: string;
      /**
       * Which page, counted from 1.
       */
      page?: number;
      /**
       * Records per page.
       */
      limit?: number;
    };
    answer: {
      data: SmsTemplate[];
      pagination?: Pagination;
      [k: string]: unknown;
    };
  };
  createSmsTemplate: {
    body: SmsTemplateCreate;
    answer: {
      data: SmsTemplateCreated;
      [k: string]: unknown;
    };
  };
  getSmsTemplate: {
    path: {
      /**
       * The template.
       */
      templateId: string;
    };
    answer: SmsTemplateAnswer;
  };
  updateSmsTemplate: {
    path: {
      /**
       * The template.
       */
      templateId: string;
    };
    body: SmsTemplateUpdate;
    answer: SmsTemplateAnswer;
  };
  deleteSmsTemplate: {
    path: {
      /**
       * The template.
       */
      templateId: string;
    };
  };
  listRetryPolicies: {
    query: {
      /**
       * Which page, counted from 1.
       */
      page?: number;
      /**
       * Records per page.
       */
      limit?: number;
    };
    answer: {
      data: RetryPolicy[];
      pagination?: Pagination;
      [k: string]: unknown;
    };
  };
  createRetryPolicy: {
    body: RetryPolicyCreate;
    answer: RetryPolicyAnswer;
  };
  getRetryPolicy: {
    path: {
      /**
       * The policy.
       */
      policyId: string;
    };
    answer: RetryPolicyAnswer;
  };
  updateRetryPolicy: {
    path: {
      /**
       * The policy.
       */
      policyId: string;
    };
    body: RetryPolicyUpdate;
    answer: RetryPolicyAnswer;
  };
  deleteRetryPolicy: {
    path: {
      /**
       * The policy.
       */
      policyId: string;
    };
  };
  getMetrics: {
    query: {
      /**
       * Begin of the span, ISO 8601.
       */
      startDate: string;
      /**
       * End of the span, ISO 8601.
       */
      endDate: string;
      /**
       * Only this organization; otherwise all that the key reaches.
       */
      organizationId?: string;
      /**
       * Only the organizations of this reseller, taken together.
       */
      resellerId?: string;
    };
    answer: {
      data: Metrics;
      [k: string]: unknown;
    };
  };
  getBillingReport: {
    query: {
      /**
       * First day.
       */
      start_date: string;
      /**
       * Last day.
       */
      end_date: string;
      /**
       * Only organizations of these resellers, with commas between the ids.
       *
       * @minItems 1
       */
      reseller_ids?: [string, ...string[]];
      /**
       * The same, one id a parameter.
       *
       * @minItems 1
       */
      'reseller_ids[]'?: [string, ...string[]];
      /**
       * Only these organizations, with commas between the ids.
       *
       * @minItems 1
       */
      organization_ids?: [string, ...string[]];
      /**
       * The same, one id a parameter.
       *
       * @minItems 1
       */
      'organization_ids[]'?: [string, ...string[]];
    };
    answer: BillingReport;
  };
  listCallLogs: {
    path: {
      /**
       * The agent.
       */
      agentId: string;
    };
    query: {
      /**
       * Which page, counted from 1.
       */
      page?: number;
      /**
       * Records per page.
       */
      limit?: number;
    };
    answer: {
      data: CallLog[];
      pagination: Pagination;
      [k: string]: unknown;
    };
  };
  createSession: {
    body: SessionRequest;
    answer: Session;
  };
  createPbxSession: {
    body: PbxSessionRequest;
    answer: Session;
  };
}
/**
 * A key and what it is wanted for.
 */
export interface TokenRequest {
  /**
   * The key's id.
   */
  client_id: string;
  /**
   * The key's secret.
   */
  client_secret: string;
  /**
   * Address of the platform with a trailing slash.
   */
  audience: string;
  /**
   * The only grant.
   */
  grant_type: 'client_credentials';
  [k: string]: unknown;
}
/**
 * An access token.
 */
export interface Token {
  /**
   * Goes into the Authorization header.
   */
  access_token: string;
  /**
   * The header's scheme.
   */
  token_type: 'Bearer';
  /**
   * Seconds that the token holds.
   */
  expires_in: number;
  [k: string]: unknown;
}
/**
 * Who the token belongs to. A scoped key gets members about its scope beside these.
 */
export interface Account {
  /**
   * The account.
   */
  account_id: string;
  /**
   * What a scoped key is limited to; the specification does not show its names.
   */
  scope?: {
    /**
     * `reseller` or `organization`.
     */
    level?: string;
    /**
     * Which one.
     */
    id?: string;
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
/**
 * What a list says of an agent.
 */
export interface AgentSummary {
  /**
   * The agent's identifier.
   */
  id: string;
  /**
   * The organization that owns the agent. Configured as `organization`: a name from `organizations`, or an id.
   */
  organization_id?: string;
  /**
   * Display name. With the organization it is how an agent is recognised when there is no state.
   */
  name: string;
  /**
   * What the agent does, for people.
   */
  description?: string | null;
  /**
   * Whether the agent takes calls. A history revert leaves it as it is.
   */
  status?: 'active' | 'inactive' | 'cancelled' | 'pending';
  /**
   * True exactly when `status` is `active`.
   */
  is_active?: boolean;
  /**
   * The template that the agent is built on. A history revert leaves it as it is.
   */
  agent_type?:
    | 'simple'
    | 'advanced'
    | 'custom'
    | 'appointment_scheduler'
    | 'receptionist'
    | 'message_taker'
    | 'blank_slate'
    | 'outbound'
    | 'opentable_reservation'
    | 'translator';
  /**
   * Language model id, from `callsheet get models`.
   */
  model?: string | null;
  /**
   * Language that the agent speaks; `multi` follows the caller.
   */
  language?: 'en-US' | 'es-US' | 'multi';
  /**
   * IANA time zone of the agent.
   */
  timezone?: string | null;
  /**
   * When the agent was made.
   */
  created_at?: string;
  /**
   * When the agent was last written.
   */
  updated_at?: string;
  [k: string]: unknown;
}
/**
 * Where a page stands in its list.
 */
export interface Pagination {
  /**
   * This page.
   */
  page: number;
  /**
   * Records per page.
   */
  limit: number;
  /**
   * Records in the whole list.
   */
  total: number;
  /**
   * Pages in the whole list.
   */
  totalPages: number;
  /**
   * Whether a page follows.
   */
  hasNext: boolean;
  /**
   * Whether a page precedes.
   */
  hasPrev: boolean;
  [k: string]: unknown;
}
/**
 * The fields to change, in write names; null clears those that can be empty.
 */
export interface AgentUpdate {
  /**
   * Display name. With the organization it is how an agent is recognised when there is no state.
   */
  name?: string;
  /**
   * What the agent does, for people.
   */
  description?: string | null;
  /**
   * Whether the agent takes calls. A history revert leaves it as it is.
   */
  status?: 'active' | 'inactive' | 'cancelled' | 'pending';
  /**
   * How the agent opens a call that comes in.
   */
  greetingMessage?: string | null;
  /**
   * Greeting on calls that the agent places.
   */
  outboundGreetingMessage?: string | null;
  /**
   * A fixed line, spoken before the outbound greeting and not generated by the model.
   */
  outboundStaticGreeting?: string | null;
  /**
   * What is left in a mailbox, where detection finds one.
   */
  voicemailMessage?: string | null;
  /**
   * A recording that is played in a mailbox instead of `voicemail_message`.
   */
  voicemailMessageAudioUrl?: string | null;
  /**
   * What the agent tells the human on the consult leg of a warm transfer.
   */
  warmTransferHandoffInstructions?: string | null;
  /**
   * The instructions that the model works from. Usually kept in a file: `{ $file: prompts/name.md }`.
   */
  systemPrompt?: string | null;
  /**
   * The template that the agent is built on. A history revert leaves it as it is.
   */
  agentType?:
    | 'simple'
    | 'advanced'
    | 'custom'
    | 'appointment_scheduler'
    | 'receptionist'
    | 'message_taker'
    | 'blank_slate'
    | 'outbound'
    | 'opentable_reservation'
    | 'translator';
  /**
   * Interpreter settings. They stay when `agent_type` moves on from `translator`; null then clears them. A translator keeps them, so that null is refused.
   */
  interpreterConfig?: {
    /**
     * How speakers are told apart. The platform returns it only when it is `voice` or `both`.
     */
    speaker_identification?: string | null;
    [k: string]: unknown;
  } | null;
  /**
   * Language model id, from `callsheet get models`.
   */
  model?: string;
  /**
   * Voice model for realtime speech.
   */
  voiceModel?: string | null;
  /**
   * Speech-to-text provider id, from `callsheet get stt_providers`.
   */
  sttModel?: string;
  /**
   * Text-to-speech provider.
   */
  ttsModel?: 'cartx' | 'minx' | 'voxc';
  /**
   * How the agent sounds. What is allowed here depends on the text-to-speech provider.
   */
  voiceSettings?: {
    /**
     * A built-in voice id, or a reference to a custom voice.
     */
    voice_id?: string | null;
    /**
     * Speaking rate, 1 being normal.
     */
    speed?: number | null;
    /**
     * Language of the voice.
     */
    language?: string | null;
    [k: string]: unknown;
  } | null;
  /**
   * General settings that the platform keeps in one object.
   */
  config?: {
    /**
     * Call recording.
     */
    enable_recording?: boolean | null;
    /**
     * IANA zone used for the caller.
     */
    user_timezone?: string | null;
    /**
     * Seconds of silence before the agent asks or ends the call.
     */
    inactivity_timeout?: number | null;
    /**
     * Whether personal data is taken out of transcripts. A lock prevents opting in and does not switch it off.
     */
    phi_redaction?: boolean | null;
    /**
     * Whether access to the agent's calls is restricted. A lock prevents opting in and does not switch it off.
     */
    secure_access?: boolean | null;
    /**
     * Whether e-mail goes out through the reseller's mail server. A lock prevents opting in and does not switch it off.
     */
    use_reseller_smtp?: boolean | null;
    [k: string]: unknown;
  } | null;
  /**
   * What the agent can call: webhooks and tool servers.
   */
  extensions?: {
    /**
     * Webhooks. At most one `before_call`, four `during_call` and one `after_call`.
     */
    tools?:
      | {
          /**
           * Always `webhook`.
           */
          type: 'webhook';
          /**
           * Unique among the agent's webhooks.
           */
          name: string;
          /**
           * Name for people.
           */
          friendlyName?: string | null;
          /**
           * Tells the model when to use it.
           */
          description?: string | null;
          /**
           * When it fires.
           */
          condition: 'before_call' | 'during_call' | 'after_call';
          /**
           * HTTP method.
           */
          method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
          /**
           * Where the request goes.
           */
          url: string;
          /**
           * Headers to send.
           */
          headers?:
            | {
                /**
                 * Header name.
                 */
                key: string;
                /**
                 * Header value. The platform returns it in clear; Callsheet masks it everywhere.
                 */
                value?: string | null;
                [k: string]: unknown;
              }[]
            | null;
          /**
           * Parameters to send.
           */
          parameters?:
            | {
                /**
                 * The name that the other side expects.
                 */
                key: string;
                /**
                 * A default or an example. Empty: the model fills it from the conversation.
                 */
                value?: string | null;
                [k: string]: unknown;
              }[]
            | null;
          [k: string]: unknown;
        }[]
      | null;
    /**
     * Connections to external tool servers.
     */
    mcp_servers?:
      | {
          /**
           * Given once the connection is saved.
           */
          id?: string;
          /**
           * Label; how a connection is recognised.
           */
          connectionName: string;
          /**
           * The server: streamable HTTP or SSE, as `transport_type` says.
           */
          mcpEndpointUrl: string;
          /**
           * How the server speaks. Lower case.
           */
          transportType: 'sse' | 'http';
          /**
           * Headers sent to the server. The platform returns them in clear; Callsheet masks them everywhere.
           */
          authHeaders?: {
            [k: string]: string;
          } | null;
          /**
           * Passed to the server when the connection is opened.
           */
          initializationOptions?: {
            [k: string]: unknown;
          } | null;
          /**
           * Tools that the agent may use; none named means all.
           */
          allowedToolNames?: string[] | null;
          /**
           * Tools called while the phone rings.
           */
          preAnswerCalls?:
            | {
                /**
                 * Tool to call.
                 */
                toolName: string;
                /**
                 * Arguments; call placeholders such as `{{caller_id}}` are filled in.
                 */
                arguments?: {
                  [k: string]: unknown;
                } | null;
                /**
                 * The tool's own schema, when the dashboard stored it.
                 */
                inputSchema?: {
                  [k: string]: unknown;
                } | null;
                [k: string]: unknown;
              }[]
            | null;
          [k: string]: unknown;
        }[]
      | null;
    [k: string]: unknown;
  } | null;
  /**
   * Providers connected to the agent. Passwords, tokens and client secrets are written and never returned; give them as `{ $secret: env:NAME }`. What else a provider keeps, such as `connected_at`, is returned as well.
   */
  integrations?: {
    /**
     * Electronic health record.
     */
    ehrProvider?: {
      /**
       * Account at the provider.
       */
      username?: string | null;
      /**
       * Password of that account.
       */
      password?: string | null;
      [k: string]: unknown;
    } | null;
    /**
     * A calendar account.
     */
    calendarA?: {
      /**
       * Calendar that is booked into.
       */
      calendar_name?: string | null;
      /**
       * Access token.
       */
      access_token?: string | null;
      /**
       * Refresh token.
       */
      refresh_token?: string | null;
      [k: string]: unknown;
    } | null;
    /**
     * A calendar account.
     */
    calendarB?: {
      /**
       * Calendar that is booked into.
       */
      calendar_name?: string | null;
      /**
       * Access token.
       */
      access_token?: string | null;
      /**
       * Refresh token.
       */
      refresh_token?: string | null;
      [k: string]: unknown;
    } | null;
    /**
     * Text messages. Holds the number that the agent sends from.
     */
    smsProvider?: {
      /**
       * Account id at the provider.
       */
      account_sid?: string | null;
      /**
       * Auth token of the account.
       */
      auth_token?: string | null;
      /**
       * Id of an API key, where one is used instead of the auth token.
       */
      api_key_sid?: string | null;
      /**
       * Secret of that API key.
       */
      api_key_secret?: string | null;
      /**
       * Number that text messages are sent from.
       */
      fromNumber?: string | null;
      [k: string]: unknown;
    } | null;
    /**
     * Phone system.
     */
    pbxProvider?: {
      /**
       * OAuth client at the provider.
       */
      client_id?: string | null;
      /**
       * Secret of that client.
       */
      client_secret?: string | null;
      [k: string]: unknown;
    } | null;
    [k: string]: unknown;
  } | null;
  /**
   * Whether calls may be transferred to a person.
   */
  transferEnabled?: boolean | null;
  /**
   * When to transfer, in words.
   */
  transferRules?: string | null;
  /**
   * The same for callers of the agent on a web page. A revert that switches `transfer_enabled` off switches this off too.
   */
  webTransferEnabled?: boolean | null;
  /**
   * Language that the agent speaks; `multi` follows the caller.
   */
  language?: 'en-US' | 'es-US' | 'multi';
  /**
   * IANA time zone of the agent.
   */
  timezone?: string | null;
  /**
   * Call recording.
   */
  enableRecording?: boolean | null;
  /**
   * Whether the agent's own echo is detected and ignored.
   */
  echoDetection?: boolean | null;
  /**
   * Looks the caller's number up to tell mobile calls. It is not answering machine detection.
   */
  callDetection?: boolean | null;
  /**
   * Answering machine detection.
   */
  amdConfig?: {
    /**
     * Detection on or off.
     */
    enabled?: boolean | null;
    /**
     * How readily a machine is assumed. The specification does not show its values.
     */
    sensitivity?: unknown;
    /**
     * What to do when a machine answers. The specification does not show its values.
     */
    on_machine?: unknown;
    /**
     * What to do when nobody speaks. The specification does not show its values.
     */
    on_silence?: unknown;
    [k: string]: unknown;
  } | null;
  /**
   * How the agent finds its way through a phone menu.
   */
  ivrNavigation?: {
    /**
     * Navigation on or off.
     */
    enabled?: boolean | null;
    [k: string]: unknown;
  } | null;
  /**
   * Retry policy that the agent's outbound calls follow.
   */
  defaultRetryPolicyId?: string | null;
  /**
   * Compliance controls for calls that the agent places.
   */
  contactPolicy?: {
    /**
     * Only call people with a recorded basis of consent. The specification does not show its values.
     */
    require_consent_basis?: unknown;
    /**
     * When calls may be placed. The specification does not show its form.
     */
    calling_windows?: unknown;
    /**
     * Abandon rate at which an alert is raised. The specification does not show its unit.
     */
    abandon_rate_alert_threshold?: unknown;
    [k: string]: unknown;
  } | null;
  /**
   * Lets the agent ask people on a web page to share their screen.
   */
  screenshareEnabled?: boolean | null;
  /**
   * Addresses for notifications and the e-mail tool.
   */
  email?: string[] | null;
  /**
   * Whether the agent may send e-mail.
   */
  emailToolEnabled?: boolean | null;
  /**
   * When and how to send e-mail.
   */
  emailToolInstructions?: string | null;
  /**
   * Addresses that the agent may refer to.
   */
  knowledgebaseLinks?: string[] | null;
  /**
   * The business listing that the agent belongs to.
   */
  placeId?: string | null;
  [k: string]: unknown;
}
/**
 * An agent, wrapped.
 */
export interface AgentAnswer {
  data: Agent;
  [k: string]: unknown;
}
/**
 * One AI phone agent: what it says, how it sounds, which model it thinks with and what it may do during a call.
 */
export interface Agent {
  /**
   * The agent's identifier.
   */
  id: string;
  /**
   * The organization that owns the agent. Configured as `organization`: a name from `organizations`, or an id.
   */
  organization_id?: string;
  /**
   * Display name. With the organization it is how an agent is recognised when there is no state.
   */
  name: string;
  /**
   * What the agent does, for people.
   */
  description?: string | null;
  /**
   * Whether the agent takes calls. A history revert leaves it as it is.
   */
  status?: 'active' | 'inactive' | 'cancelled' | 'pending';
  /**
   * True exactly when `status` is `active`.
   */
  is_active?: boolean;
  /**
   * How the agent opens a call that comes in.
   */
  greeting_message?: string | null;
  /**
   * Greeting on calls that the agent places.
   */
  outbound_greeting_message?: string | null;
  /**
   * A fixed line, spoken before the outbound greeting and not generated by the model.
   */
  outbound_static_greeting?: string | null;
  /**
   * What is left in a mailbox, where detection finds one.
   */
  voicemail_message?: string | null;
  /**
   * A recording that is played in a mailbox instead of `voicemail_message`.
   */
  voicemail_message_audio_url?: string | null;
  /**
   * What the agent tells the human on the consult leg of a warm transfer.
   */
  warm_transfer_handoff_instructions?: string | null;
  /**
   * The instructions that the model works from. Usually kept in a file: `{ $file: prompts/name.md }`.
   */
  system_prompt?: string | null;
  /**
   * The template that the agent is built on. A history revert leaves it as it is.
   */
  agent_type?:
    | 'simple'
    | 'advanced'
    | 'custom'
    | 'appointment_scheduler'
    | 'receptionist'
    | 'message_taker'
    | 'blank_slate'
    | 'outbound'
    | 'opentable_reservation'
    | 'translator';
  /**
   * Interpreter settings. They stay when `agent_type` moves on from `translator`; null then clears them. A translator keeps them, so that null is refused.
   */
  interpreter_config?: {
    /**
     * How speakers are told apart. The platform returns it only when it is `voice` or `both`.
     */
    speaker_identification?: string | null;
    [k: string]: unknown;
  } | null;
  /**
   * Language model id, from `callsheet get models`.
   */
  model?: string | null;
  /**
   * Voice model for realtime speech.
   */
  voice_model?: string | null;
  /**
   * Speech-to-text provider id, from `callsheet get stt_providers`.
   */
  stt_model?: string | null;
  /**
   * Text-to-speech provider.
   */
  tts_model?: 'cartx' | 'minx' | 'voxc';
  /**
   * How the agent sounds. What is allowed here depends on the text-to-speech provider.
   */
  voice_settings?: {
    /**
     * A built-in voice id, or a reference to a custom voice.
     */
    voice_id?: string | null;
    /**
     * Speaking rate, 1 being normal.
     */
    speed?: number | null;
    /**
     * Language of the voice.
     */
    language?: string | null;
    [k: string]: unknown;
  } | null;
  /**
   * General settings that the platform keeps in one object.
   */
  config?: {
    /**
     * Call recording.
     */
    enable_recording?: boolean | null;
    /**
     * IANA zone used for the caller.
     */
    user_timezone?: string | null;
    /**
     * Seconds of silence before the agent asks or ends the call.
     */
    inactivity_timeout?: number | null;
    /**
     * Whether personal data is taken out of transcripts. A lock prevents opting in and does not switch it off.
     */
    phi_redaction?: boolean | null;
    /**
     * Whether access to the agent's calls is restricted. A lock prevents opting in and does not switch it off.
     */
    secure_access?: boolean | null;
    /**
     * Whether e-mail goes out through the reseller's mail server. A lock prevents opting in and does not switch it off.
     */
    use_reseller_smtp?: boolean | null;
    [k: string]: unknown;
  } | null;
  /**
   * What the agent can call: webhooks and tool servers.
   */
  extensions?: {
    /**
     * Webhooks. At most one `before_call`, four `during_call` and one `after_call`.
     */
    tools?:
      | {
          /**
           * Always `webhook`.
           */
          type: 'webhook';
          /**
           * Unique among the agent's webhooks.
           */
          name: string;
          /**
           * Name for people.
           */
          friendlyName?: string | null;
          /**
           * Tells the model when to use it.
           */
          description?: string | null;
          /**
           * When it fires.
           */
          condition: 'before_call' | 'during_call' | 'after_call';
          /**
           * HTTP method.
           */
          method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
          /**
           * Where the request goes.
           */
          url: string;
          /**
           * Headers to send.
           */
          headers?:
            | {
                /**
                 * Header name.
                 */
                key: string;
                /**
                 * Header value. The platform returns it in clear; Callsheet masks it everywhere.
                 */
                value?: string | null;
                [k: string]: unknown;
              }[]
            | null;
          /**
           * Parameters to send.
           */
          parameters?:
            | {
                /**
                 * The name that the other side expects.
                 */
                key: string;
                /**
                 * A default or an example. Empty: the model fills it from the conversation.
                 */
                value?: string | null;
                [k: string]: unknown;
              }[]
            | null;
          [k: string]: unknown;
        }[]
      | null;
    /**
     * Connections to external tool servers.
     */
    mcp_servers?:
      | {
          /**
           * Given once the connection is saved.
           */
          id?: string;
          /**
           * Label; how a connection is recognised.
           */
          connection_name: string;
          /**
           * The server: streamable HTTP or SSE, as `transport_type` says.
           */
          mcp_endpoint_url: string;
          /**
           * How the server speaks. Lower case.
           */
          transport_type: 'sse' | 'http';
          /**
           * Headers sent to the server. The platform returns them in clear; Callsheet masks them everywhere.
           */
          auth_headers?: {
            [k: string]: string;
          } | null;
          /**
           * Passed to the server when the connection is opened.
           */
          initialization_options?: {
            [k: string]: unknown;
          } | null;
          /**
           * Kept by the platform once the connection was tested.
           */
          fingerprint?: string;
          /**
           * What the last test found; empty before one.
           */
          tools?: {
            /**
             * The tool.
             */
            name?: string;
            /**
             * What it does.
             */
            description?: string;
            [k: string]: unknown;
          }[];
          /**
           * Tools that the agent may use; none named means all.
           */
          allowed_tool_names?: string[] | null;
          /**
           * Tools called while the phone rings.
           */
          pre_answer_calls?:
            | {
                /**
                 * Tool to call.
                 */
                tool_name: string;
                /**
                 * Arguments; call placeholders such as `{{caller_id}}` are filled in.
                 */
                arguments?: {
                  [k: string]: unknown;
                } | null;
                /**
                 * The tool's own schema, when the dashboard stored it.
                 */
                input_schema?: {
                  [k: string]: unknown;
                } | null;
                [k: string]: unknown;
              }[]
            | null;
          [k: string]: unknown;
        }[]
      | null;
    [k: string]: unknown;
  } | null;
  /**
   * Providers connected to the agent. Passwords, tokens and client secrets are written and never returned; give them as `{ $secret: env:NAME }`. What else a provider keeps, such as `connected_at`, is returned as well.
   */
  integrations?: {
    /**
     * Electronic health record.
     */
    ehrProvider?: {
      /**
       * Account at the provider.
       */
      username?: string | null;
      [k: string]: unknown;
    } | null;
    /**
     * A calendar account.
     */
    calendarA?: {
      /**
       * Calendar that is booked into.
       */
      calendar_name?: string | null;
      [k: string]: unknown;
    } | null;
    /**
     * A calendar account.
     */
    calendarB?: {
      /**
       * Calendar that is booked into.
       */
      calendar_name?: string | null;
      [k: string]: unknown;
    } | null;
    /**
     * Text messages. Holds the number that the agent sends from.
     */
    smsProvider?: {
      /**
       * Account id at the provider.
       */
      account_sid?: string | null;
      /**
       * Id of an API key, where one is used instead of the auth token.
       */
      api_key_sid?: string | null;
      /**
       * Number that text messages are sent from.
       */
      fromNumber?: string | null;
      [k: string]: unknown;
    } | null;
    /**
     * Phone system.
     */
    pbxProvider?: {
      /**
       * OAuth client at the provider.
       */
      client_id?: string | null;
      [k: string]: unknown;
    } | null;
    [k: string]: unknown;
  } | null;
  /**
   * Whether calls may be transferred to a person.
   */
  transfer_enabled?: boolean | null;
  /**
   * When to transfer, in words.
   */
  transfer_rules?: string | null;
  /**
   * The same for callers of the agent on a web page. A revert that switches `transfer_enabled` off switches this off too.
   */
  web_transfer_enabled?: boolean | null;
  /**
   * Language that the agent speaks; `multi` follows the caller.
   */
  language?: 'en-US' | 'es-US' | 'multi';
  /**
   * IANA time zone of the agent.
   */
  timezone?: string | null;
  /**
   * Call recording.
   */
  enable_recording?: boolean | null;
  /**
   * Whether the agent's own echo is detected and ignored.
   */
  echo_detection?: boolean | null;
  /**
   * Looks the caller's number up to tell mobile calls. It is not answering machine detection.
   */
  call_detection?: boolean | null;
  /**
   * Answering machine detection.
   */
  amd_config?: {
    /**
     * Detection on or off.
     */
    enabled?: boolean | null;
    /**
     * How readily a machine is assumed. The specification does not show its values.
     */
    sensitivity?: unknown;
    /**
     * What to do when a machine answers. The specification does not show its values.
     */
    on_machine?: unknown;
    /**
     * What to do when nobody speaks. The specification does not show its values.
     */
    on_silence?: unknown;
    [k: string]: unknown;
  } | null;
  /**
   * How the agent finds its way through a phone menu.
   */
  ivr_navigation?: {
    /**
     * Navigation on or off.
     */
    enabled?: boolean | null;
    [k: string]: unknown;
  } | null;
  /**
   * Retry policy that the agent's outbound calls follow.
   */
  default_retry_policy_id?: string | null;
  /**
   * Compliance controls for calls that the agent places.
   */
  contact_policy?: {
    /**
     * Only call people with a recorded basis of consent. The specification does not show its values.
     */
    require_consent_basis?: unknown;
    /**
     * When calls may be placed. The specification does not show its form.
     */
    calling_windows?: unknown;
    /**
     * Abandon rate at which an alert is raised. The specification does not show its unit.
     */
    abandon_rate_alert_threshold?: unknown;
    [k: string]: unknown;
  } | null;
  /**
   * Lets the agent ask people on a web page to share their screen.
   */
  screenshare_enabled?: boolean | null;
  /**
   * Addresses for notifications and the e-mail tool.
   */
  email?: string[] | null;
  /**
   * Whether the agent may send e-mail.
   */
  email_tool_enabled?: boolean | null;
  /**
   * When and how to send e-mail.
   */
  email_tool_instructions?: string | null;
  /**
   * Addresses that the agent may refer to.
   */
  knowledgebase_links?: string[] | null;
  /**
   * The stored SIP registration, but its password. Its flag is managed as `sip.registration_enabled`.
   */
  sip_registration_data?: {
    [k: string]: unknown;
  } | null;
  /**
   * The business listing that the agent belongs to.
   */
  place_id?: string | null;
  /**
   * Details of the listing, kept by the platform.
   */
  place_data?: {
    [k: string]: unknown;
  } | null;
  /**
   * Facts of the listing that calls use, kept by the platform.
   */
  place_context?: string | null;
  /**
   * When the listing was last read. Calls never use what is older than 30 days.
   */
  place_fetched_at?: string | null;
  /**
   * When the agent was made.
   */
  created_at?: string;
  /**
   * When the agent was last written.
   */
  updated_at?: string;
  [k: string]: unknown;
}
/**
 * One change of an agent.
 */
export interface HistoryEntry {
  /**
   * Names the version in calls.
   */
  id: number;
  /**
   * Counts the versions, for people; it names nothing.
   */
  version?: number;
  /**
   * What was done.
   */
  action?: string;
  /**
   * For a revert, the entry that was restored.
   */
  reverted_from_id?: number | null;
  /**
   * Who did it.
   */
  actor?: {
    /**
     * For the API `api:` and the account id.
     */
    id?: string;
    [k: string]: unknown;
  };
  /**
   * Where it was done from.
   */
  source?: string;
  /**
   * When it was done.
   */
  created_at?: string;
  [k: string]: unknown;
}
/**
 * An agent's SIP registration. The password is in the answer; it is a secret all the same.
 */
export interface SipRegistration {
  /**
   * The registrar's domain.
   */
  sipDomain?: string;
  /**
   * Account at the registrar.
   */
  username?: string;
  /**
   * Its password.
   */
  password?: string;
  /**
   * Proxy in front of the registrar.
   */
  proxy?: string;
  /**
   * Port of the registrar.
   */
  port?: number;
  /**
   * How it is spoken to.
   */
  transport?: string;
  /**
   * Whether the agent subscribes as well.
   */
  subscribe?: boolean;
  /**
   * Name to authenticate with, where it is another.
   */
  authUsername?: string | null;
  /**
   * Number that calls come in on.
   */
  did?: string | null;
  /**
   * Value of the routing header.
   */
  sipRoutingHeaderXDestUser?: string | null;
  /**
   * Whether the agent is to be registered.
   */
  registrationEnabled: boolean;
  /**
   * Extension of the agent; the specification does not say what type it has.
   */
  extension?: string | number | null;
  [k: string]: unknown;
}
/**
 * Whether and how an agent may take payments. The limits are those that apply, or would.
 */
export interface PaymentReadiness {
  /**
   * The agent.
   */
  agent_id: string;
  /**
   * Whether the tool can be armed; it needs charges and SMS credentials, and no lock.
   */
  can_enable: boolean;
  /**
   * Whether a lock on card payments holds.
   */
  feature_locked?: boolean;
  /**
   * Whether the organization is active and may charge.
   */
  can_accept_payments?: boolean;
  /**
   * State of the merchant account.
   */
  account_status?: 'not_started' | 'onboarding' | 'active' | 'restricted';
  /**
   * Whether the payment processor allows charges.
   */
  charges_enabled?: boolean;
  /**
   * Whether the agent has whole SMS credentials.
   */
  twilio_configured?: boolean;
  /**
   * Whether the tool is armed.
   */
  payment_tool_enabled: boolean;
  /**
   * Where a payer ends up.
   */
  success_url?: string;
  /**
   * Largest single charge, in cents.
   */
  max_single_charge_cents?: number;
  /**
   * Most that one call may charge, in cents.
   */
  max_per_call_cents?: number;
  /**
   * Payment links per call.
   */
  max_attempts_per_call?: number;
  [k: string]: unknown;
}
/**
 * Features as they stand for one level.
 */
export interface FeatureMatrix {
  /**
   * Whether the matrix governs, rather than the older settings.
   */
  feature_administration_enabled: boolean;
  /**
   * The level that was resolved.
   */
  scope: {
    /**
     * Which level.
     */
    level: 'account' | 'reseller' | 'organization';
    /**
     * Its id.
     */
    id: string;
    [k: string]: unknown;
  };
  data: Feature[];
  [k: string]: unknown;
}
/**
 * One feature.
 */
export interface Feature {
  /**
   * Its name in locks.
   */
  key: string;
  /**
   * Its name for people.
   */
  name?: string;
  /**
   * What it does.
   */
  description?: string;
  /**
   * Group that it is shown in.
   */
  category?:
    'CAPABILITY' | 'TEMPLATE' | 'LLM_MODEL' | 'TTS' | 'INTEGRATION' | 'OPERATIONAL' | 'COMMERCIAL';
  /**
   * Whether it may be used.
   */
  state: 'available' | 'locked';
  /**
   * Whether the lock is this level's own.
   */
  locked_scope?: 'here' | 'inherited' | null;
  /**
   * What the state comes from.
   */
  decided_by?: 'feature_administration' | 'legacy_column' | 'default_available';
  [k: string]: unknown;
}
/**
 * A language model.
 */
export interface LlmModel {
  /**
   * What an agent's `model` holds.
   */
  id: string;
  /**
   * Its name for people.
   */
  name?: string;
  /**
   * What it is good at.
   */
  description?: string;
  /**
   * Whose it is.
   */
  provider?: 'alpha' | 'beta' | 'gamma' | 'delta' | 'epsilon';
  [k: string]: unknown;
}
/**
 * A speech-to-text provider.
 */
export interface SttProvider {
  /**
   * What an agent's `stt_model` holds.
   */
  id: string;
  /**
   * Its name for people.
   */
  name?: string;
  /**
   * What it is good at.
   */
  description?: string;
  [k: string]: unknown;
}
/**
 * A voice cloned from a recording. The platform has no endpoint that changes or deletes one.
 */
export interface CustomVoice {
  /**
   * The voice id, as agents store it.
   */
  id: string;
  /**
   * The organization that owns the voice. Configured as `organization`.
   */
  organization_id?: string;
  /**
   * Unique in the organization.
   */
  name: string;
  /**
   * Language of the voice; agents that use it speak it.
   */
  language?:
    | 'en'
    | 'fr'
    | 'de'
    | 'es'
    | 'pt'
    | 'zh'
    | 'ja'
    | 'hi'
    | 'it'
    | 'ko'
    | 'nl'
    | 'pl'
    | 'ru'
    | 'sv'
    | 'tr'
    | 'tl'
    | 'bg'
    | 'ro'
    | 'ar'
    | 'cs'
    | 'el'
    | 'fi'
    | 'hr'
    | 'ms'
    | 'sk'
    | 'da'
    | 'ta'
    | 'uk'
    | 'hu'
    | 'no'
    | 'vi'
    | 'bn'
    | 'th'
    | 'he'
    | 'ka'
    | 'id'
    | 'te'
    | 'gu'
    | 'kn'
    | 'ml'
    | 'mr'
    | 'pa';
  /**
   * What the voice is for.
   */
  description?: string | null;
  /**
   * Where the voice lives.
   */
  provider?: string;
  /**
   * True for a cloned voice.
   */
  custom?: boolean;
  [k: string]: unknown;
}
/**
 * A cloned voice, wrapped.
 */
export interface CustomVoiceAnswer {
  data: CustomVoice;
  [k: string]: unknown;
}
/**
 * A page or a document that agents can answer from. The knowledge base itself is made in the dashboard. The platform has no endpoint that changes or deletes a source.
 */
export interface KnowledgeSource {
  /**
   * The source's identifier.
   */
  id: string;
  /**
   * The knowledge base that holds the source; the `id` of the block that contains it.
   */
  knowledge_base_id?: string | null;
  /**
   * The organization that owns the knowledge base.
   */
  organization_id?: string;
  /**
   * Whether it is a page or a document.
   */
  source_type?: 'url' | 'file';
  /**
   * A page to crawl.
   */
  url?: string | null;
  /**
   * Name of the document: the last part of `file`. It is how a document is recognised when there is no state; the platform cannot rename one.
   */
  name?: string | null;
  /**
   * State of the ingestion.
   */
  status?: string;
  /**
   * Pieces that the source was cut into.
   */
  chunk_count?: number;
  /**
   * When it was last ingested.
   */
  last_synced_at?: string | null;
  /**
   * When the source was made.
   */
  created_at?: string;
  [k: string]: unknown;
}
/**
 * A page to crawl.
 */
export interface UrlSourceCreate {
  /**
   * Names the shape.
   */
  sourceType: 'url';
  /**
   * A page to crawl.
   */
  url: string;
  /**
   * Ingest the page again where it is there already, instead of answering 409.
   */
  forceReingest?: boolean;
  [k: string]: unknown;
}
/**
 * A document whose bytes follow.
 */
export interface FileSourceCreate {
  /**
   * Names the shape.
   */
  sourceType: 'file';
  /**
   * Name of the document.
   */
  fileName: string;
  /**
   * Its type: PDF, DOCX, plain text, HTML, CSV or Markdown.
   */
  fileMime:
    | 'application/pdf'
    | 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'
    | 'text/plain'
    | 'text/html'
    | 'text/csv'
    | 'text/markdown';
  /**
   * Bytes, at most 50 MB.
   */
  fileSize: number;
  /**
   * Hash of the bytes; an equal one is a duplicate.
   */
  contentHash?: string;
  /**
   * Take the document although its hash is known.
   */
  forceReingest?: boolean;
  [k: string]: unknown;
}
/**
 * What was made; the upload's members only for a document.
 */
export interface KnowledgeSourceCreated {
  /**
   * The source.
   */
  sourceId: string;
  /**
   * The ingestion.
   */
  jobId?: string;
  /**
   * Where the bytes are PUT with their content type and without the token.
   */
  presignedUrl?: string;
  /**
   * Where the bytes will lie.
   */
  fileKey?: string;
  [k: string]: unknown;
}
/**
 * An e-mail that agents send. Subject and body may hold `{{token}}` and `{{token|fallback}}`.
 */
export interface EmailTemplate {
  /**
   * The template's identifier.
   */
  id: string;
  /**
   * The organization that owns the template. Configured as `organization`.
   */
  organization_id?: string;
  /**
   * Unique in the organization.
   */
  name: string;
  /**
   * Subject line. Needed before a template can be active.
   */
  subject?: string | null;
  /**
   * HTML, stored as given. Usually kept in a file.
   */
  body_html?: string | null;
  /**
   * Name of the sender.
   */
  from_name?: string | null;
  /**
   * A new template starts as `draft` or `active`.
   */
  status?: 'draft' | 'active' | 'archived';
  /**
   * Counts up; 1 when made.
   */
  version?: number;
  /**
   * When the template was made.
   */
  created_at?: string;
  /**
   * When the template was last written.
   */
  updated_at?: string;
  [k: string]: unknown;
}
/**
 * The fields to change.
 */
export interface EmailTemplateUpdate {
  /**
   * Unique in the organization.
   */
  name?: string;
  /**
   * Subject line. Needed before a template can be active.
   */
  subject?: string;
  /**
   * HTML, stored as given. Usually kept in a file.
   */
  body_html?: string;
  /**
   * Name of the sender.
   */
  from_name?: string | null;
  /**
   * A new template starts as `draft` or `active`.
   */
  status?: 'draft' | 'active' | 'archived';
  [k: string]: unknown;
}
/**
 * An e-mail template, wrapped.
 */
export interface EmailTemplateAnswer {
  data: EmailTemplate;
  [k: string]: unknown;
}
/**
 * A text message that agents send. The body may hold `{{token}}` and `{{token|fallback}}`.
 */
export interface SmsTemplate {
  /**
   * The template's identifier.
   */
  id: string;
  /**
   * The organization that owns the template. Configured as `organization`.
   */
  organization_id?: string;
  /**
   * Unique in the organization.
   */
  name: string;
  /**
   * Cannot be changed once the template exists; another value replaces the template.
   */
  message_type: 'sms' | 'mms';
  /**
   * What it is for.
   */
  description?: string | null;
  /**
   * The text.
   */
  body?: string | null;
  /**
   * Labels.
   */
  tags?: string[] | null;
  /**
   * Phone number, short code or sender id; overrides the agent's own. It is checked when the template is assigned to an agent, not before.
   */
  from_number?: string | null;
  /**
   * A new template starts as `draft` or `active`.
   */
  status?: 'draft' | 'active' | 'archived';
  /**
   * Counts up; 1 when made.
   */
  version?: number;
  /**
   * When the template was made.
   */
  created_at?: string;
  /**
   * When the template was last written.
   */
  updated_at?: string;
  [k: string]: unknown;
}
/**
 * The fields to change.
 */
export interface SmsTemplateUpdate {
  /**
   * Unique in the organization.
   */
  name?: string;
  /**
   * What it is for.
   */
  description?: string | null;
  /**
   * The text.
   */
  body?: string;
  /**
   * Labels.
   */
  tags?: string[] | null;
  /**
   * Phone number, short code or sender id; overrides the agent's own. It is checked when the template is assigned to an agent, not before.
   */
  from_number?: string | null;
  /**
   * A new template starts as `draft` or `active`.
   */
  status?: 'draft' | 'active' | 'archived';
  [k: string]: unknown;
}
/**
 * A new SMS template, in short.
 */
export interface SmsTemplateCreated {
  /**
   * The template's identifier.
   */
  id: string;
  /**
   * Unique in the organization.
   */
  name: string;
  /**
   * A new template starts as `draft` or `active`.
   */
  status: 'draft' | 'active' | 'archived';
  /**
   * Counts up; 1 when made.
   */
  version: number;
  [k: string]: unknown;
}
/**
 * An SMS template, wrapped.
 */
export interface SmsTemplateAnswer {
  data: SmsTemplate;
  [k: string]: unknown;
}
/**
 * How outbound calls are tried again. It belongs to the account; agents refer to it. Chains in flight keep the rules that they started with.
 */
export interface RetryPolicy {
  /**
   * The policy's identifier.
   */
  id: string;
  /**
   * Unique in the account; how a policy is recognised when there is no state.
   */
  name: string;
  /**
   * What to do after each outcome of a call. Always written whole.
   */
  rules?: {
    /**
     * What to do after one outcome.
     */
    no_answer?: {
      /**
       * Seconds until the next attempt.
       */
      delay_seconds?: number | null;
      /**
       * Attempts for this outcome.
       */
      max_attempts?: number | null;
      [k: string]: unknown;
    } | null;
    /**
     * What to do after one outcome.
     */
    [k: string]:
      | {
          /**
           * Seconds until the next attempt.
           */
          delay_seconds?: number | null;
          /**
           * Attempts for this outcome.
           */
          max_attempts?: number | null;
          [k: string]: unknown;
        }
      | null
      | undefined;
  } | null;
  /**
   * Caps on how often people are contacted. Null removes them.
   */
  contact_policy?: {
    [k: string]: unknown;
  } | null;
  /**
   * What happens after the last attempt.
   */
  on_exhausted?: string | null;
  /**
   * Target of `on_exhausted`, where it has one. Always written together with it. The specification does not show its form.
   */
  on_exhausted_target?: unknown;
  /**
   * Whether an attempt outside the calling windows is moved into the next one.
   */
  reschedule_out_of_window?: boolean | null;
  /**
   * When the policy was made.
   */
  created_at?: string;
  /**
   * When the policy was last written.
   */
  updated_at?: string;
  [k: string]: unknown;
}
/**
 * The fields to change. `rules` is replaced whole.
 */
export interface RetryPolicyUpdate {
  /**
   * Unique in the account; how a policy is recognised when there is no state.
   */
  name?: string;
  /**
   * What to do after each outcome of a call. Always written whole.
   */
  rules?: {
    /**
     * What to do after one outcome.
     */
    no_answer?: {
      /**
       * Seconds until the next attempt.
       */
      delay_seconds?: number | null;
      /**
       * Attempts for this outcome.
       */
      max_attempts?: number | null;
      [k: string]: unknown;
    };
    /**
     * What to do after one outcome.
     */
    [k: string]:
      | {
          /**
           * Seconds until the next attempt.
           */
          delay_seconds?: number;
          /**
           * Attempts for this outcome.
           */
          max_attempts?: number;
          [k: string]: unknown;
        }
      | {
          /**
           * Seconds until the next attempt.
           */
          delay_seconds?: number | null;
          /**
           * Attempts for this outcome.
           */
          max_attempts?: number | null;
          [k: string]: unknown;
        }
      | undefined;
  };
  /**
   * Caps on how often people are contacted. Null removes them.
   */
  contact_policy?: {
    [k: string]: unknown;
  } | null;
  /**
   * What happens after the last attempt.
   */
  on_exhausted?: string;
  /**
   * Target of `on_exhausted`, where it has one. Always written together with it. The specification does not show its form.
   */
  on_exhausted_target?: unknown;
  /**
   * Whether an attempt outside the calling windows is moved into the next one.
   */
  reschedule_out_of_window?: boolean;
  [k: string]: unknown;
}
/**
 * A retry policy, wrapped.
 */
export interface RetryPolicyAnswer {
  data: RetryPolicy;
  [k: string]: unknown;
}
/**
 * Figures over a span of time.
 */
export interface Metrics {
  /**
   * The span as a whole.
   */
  metrics: {
    /**
     * Calls.
     */
    totalCalls: number;
    /**
     * Minutes of all calls together.
     */
    totalMinutes: number;
    /**
     * Percent of calls that were resolved.
     */
    resolutionRate: number;
    /**
     * Seconds of an average call.
     */
    avgDuration: number;
    /**
     * Agents that are active.
     */
    activeAgents: number;
    /**
     * Milliseconds until an agent answers; null where it was not measured.
     */
    responseTime: number | null;
    /**
     * Percent of calls with a good mood; null where it was not measured.
     */
    sentimentPercent: number | null;
    /**
     * Percent of calls that went on to a person; null where it was not measured.
     */
    escalationRate: number | null;
    [k: string]: unknown;
  };
  /**
   * One entry a day.
   */
  dailyVolume: {
    /**
     * The day.
     */
    date: string;
    /**
     * Calls on that day.
     */
    totalCalls: number;
    /**
     * How many of them were resolved.
     */
    resolvedCalls: number;
    [k: string]: unknown;
  }[];
  /**
   * The 24 hours of a day, all days of the span taken together.
   *
   * @minItems 24
   * @maxItems 24
   */
  hourlyDistribution: [
    {
      /**
       * The hour.
       */
      hour: string;
      /**
       * Calls that began in it.
       */
      calls: number;
      /**
       * Their minutes.
       */
      minutes: number;
      [k: string]: unknown;
    },
    {
      /**
       * The hour.
       */
      hour: string;
      /**
       * Calls that began in it.
       */
      calls: number;
      /**
       * Their minutes.
       */
      minutes: number;
      [k: string]: unknown;
    },
    {
      /**
       * The hour.
       */
      hour: string;
      /**
       * Calls that began in it.
       */
      calls: number;
      /**
       * Their minutes.
       */
      minutes: number;
      [k: string]: unknown;
    },
    {
      /**
       * The hour.
       */
      hour: string;
      /**
       * Calls that began in it.
       */
      calls: number;
      /**
       * Their minutes.
       */
      minutes: number;
      [k: string]: unknown;
    },
    {
      /**
       * The hour.
       */
      hour: string;
      /**
       * Calls that began in it.
       */
      calls: number;
      /**
       * Their minutes.
       */
      minutes: number;
      [k: string]: unknown;
    },
    {
      /**
       * The hour.
       */
      hour: string;
      /**
       * Calls that began in it.
       */
      calls: number;
      /**
       * Their minutes.
       */
      minutes: number;
      [k: string]: unknown;
    },
    {
      /**
       * The hour.
       */
      hour: string;
      /**
       * Calls that began in it.
       */
      calls: number;
      /**
       * Their minutes.
       */
      minutes: number;
      [k: string]: unknown;
    },
    {
      /**
       * The hour.
       */
      hour: string;
      /**
       * Calls that began in it.
       */
      calls: number;
      /**
       * Their minutes.
       */
      minutes: number;
      [k: string]: unknown;
    },
    {
      /**
       * The hour.
       */
      hour: string;
      /**
       * Calls that began in it.
       */
      calls: number;
      /**
       * Their minutes.
       */
      minutes: number;
      [k: string]: unknown;
    },
    {
      /**
       * The hour.
       */
      hour: string;
      /**
       * Calls that began in it.
       */
      calls: number;
      /**
       * Their minutes.
       */
      minutes: number;
      [k: string]: unknown;
    },
    {
      /**
       * The hour.
       */
      hour: string;
      /**
       * Calls that began in it.
       */
      calls: number;
      /**
       * Their minutes.
       */
      minutes: number;
      [k: string]: unknown;
    },
    {
      /**
       * The hour.
       */
      hour: string;
      /**
       * Calls that began in it.
       */
      calls: number;
      /**
       * Their minutes.
       */
      minutes: number;
      [k: string]: unknown;
    },
    {
      /**
       * The hour.
       */
      hour: string;
      /**
       * Calls that began in it.
       */
      calls: number;
      /**
       * Their minutes.
       */
      minutes: number;
      [k: string]: unknown;
    },
    {
      /**
       * The hour.
       */
      hour: string;
      /**
       * Calls that began in it.
       */
      calls: number;
      /**
       * Their minutes.
       */
      minutes: number;
      [k: string]: unknown;
    },
    {
      /**
       * The hour.
       */
      hour: string;
      /**
       * Calls that began in it.
       */
      calls: number;
      /**
       * Their minutes.
       */
      minutes: number;
      [k: string]: unknown;
    },
    {
      /**
       * The hour.
       */
      hour: string;
      /**
       * Calls that began in it.
       */
      calls: number;
      /**
       * Their minutes.
       */
      minutes: number;
      [k: string]: unknown;
    },
    {
      /**
       * The hour.
       */
      hour: string;
      /**
       * Calls that began in it.
       */
      calls: number;
      /**
       * Their minutes.
       */
      minutes: number;
      [k: string]: unknown;
    },
    {
      /**
       * The hour.
       */
      hour: string;
      /**
       * Calls that began in it.
       */
      calls: number;
      /**
       * Their minutes.
       */
      minutes: number;
      [k: string]: unknown;
    },
    {
      /**
       * The hour.
       */
      hour: string;
      /**
       * Calls that began in it.
       */
      calls: number;
      /**
       * Their minutes.
       */
      minutes: number;
      [k: string]: unknown;
    },
    {
      /**
       * The hour.
       */
      hour: string;
      /**
       * Calls that began in it.
       */
      calls: number;
      /**
       * Their minutes.
       */
      minutes: number;
      [k: string]: unknown;
    },
    {
      /**
       * The hour.
       */
      hour: string;
      /**
       * Calls that began in it.
       */
      calls: number;
      /**
       * Their minutes.
       */
      minutes: number;
      [k: string]: unknown;
    },
    {
      /**
       * The hour.
       */
      hour: string;
      /**
       * Calls that began in it.
       */
      calls: number;
      /**
       * Their minutes.
       */
      minutes: number;
      [k: string]: unknown;
    },
    {
      /**
       * The hour.
       */
      hour: string;
      /**
       * Calls that began in it.
       */
      calls: number;
      /**
       * Their minutes.
       */
      minutes: number;
      [k: string]: unknown;
    },
    {
      /**
       * The hour.
       */
      hour: string;
      /**
       * Calls that began in it.
       */
      calls: number;
      /**
       * Their minutes.
       */
      minutes: number;
      [k: string]: unknown;
    }
  ];
  /**
   * How calls ended.
   */
  resolutionBreakdown: {
    /**
     * Settled by the agent.
     */
    resolved: number;
    /**
     * Handed to a person.
     */
    transferred: number;
    /**
     * Left by the caller.
     */
    abandoned: number;
    /**
     * None of these.
     */
    other: number;
    [k: string]: unknown;
  };
  /**
   * One entry per agent.
   */
  agentPerformance: {
    /**
     * The agent.
     */
    agentId: string;
    /**
     * Its name.
     */
    agentName: string;
    /**
     * Its calls.
     */
    totalCalls: number;
    /**
     * Settled by the agent.
     */
    resolved: number;
    /**
     * Handed to a person.
     */
    transferred: number;
    /**
     * Left by the caller.
     */
    abandoned: number;
    /**
     * None of these.
     */
    other: number;
    /**
     * The same in percent of its calls.
     */
    resolvedPercent: number;
    /**
     * The same in percent of its calls.
     */
    transferredPercent: number;
    /**
     * The same in percent of its calls.
     */
    abandonedPercent: number;
    /**
     * The same in percent of its calls.
     */
    otherPercent: number;
    /**
     * Seconds of an average call.
     */
    avgDuration: number;
    /**
     * Percent of calls with a good mood; null where it was not measured.
     */
    sentimentPercent: number | null;
    /**
     * State of the agent; `deleted` where only its calls are left.
     */
    status: 'active' | 'inactive' | 'cancelled' | 'pending' | 'deleted';
    [k: string]: unknown;
  }[];
  /**
   * How well the machinery worked; null where it was not measured.
   */
  aiInsights: {
    /**
     * Percent of intents that were understood.
     */
    intentAccuracy: number | null;
    /**
     * Percent of turns that kept the thread.
     */
    contextRetention: number | null;
    /**
     * Percent of words that were heard right.
     */
    speechRecognition: number | null;
    /**
     * Percent of names and numbers that were caught.
     */
    entityExtraction: number | null;
    /**
     * Milliseconds; from the same source as `responseTime`.
     */
    responseLatency: number | null;
    /**
     * Call sessions.
     */
    trainingSessions: number;
    [k: string]: unknown;
  };
  /**
   * Why calls went on to a person, the most frequent first; empty where none did.
   */
  escalationReasons: {
    /**
     * Why.
     */
    reason: string;
    /**
     * How often.
     */
    count: number;
    /**
     * Percent of all of them.
     */
    percentOfTotal: number;
    /**
     * Seconds into the call.
     */
    avgTimeBeforeEscalation: number;
    [k: string]: unknown;
  }[];
  [k: string]: unknown;
}
/**
 * What is charged for, organization by organization.
 */
export interface BillingReport {
  /**
   * One row an organization.
   */
  data: {
    /**
     * The organization.
     */
    organization_id: string;
    /**
     * Its name.
     */
    organization_name: string;
    /**
     * Its reseller.
     */
    reseller_id: string | null;
    /**
     * The reseller's name.
     */
    reseller_name: string | null;
    /**
     * Minutes of its calls.
     */
    voice_minutes: number;
    /**
     * Its agents.
     */
    agent_count: number;
    [k: string]: unknown;
  }[];
  /**
   * The span, in US notation although it is asked for in ISO 8601.
   */
  period: {
    /**
     * First day.
     */
    start_date: string;
    /**
     * Last day.
     */
    end_date: string;
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
/**
 * One call.
 */
export interface CallLog {
  /**
   * The call log's id.
   */
  id: string;
  /**
   * The agent that took or placed the call.
   */
  agent_id: string;
  /**
   * Room that the call was held in.
   */
  room_name?: string;
  /**
   * What was said, a line an utterance, each with seconds and speaker in front.
   */
  transcript_text?: string;
  /**
   * What was said and what happened, in order.
   */
  transcript_json?: {
    /**
     * The words; of a system entry, what happened.
     */
    text: string;
    /**
     * Who spoke.
     */
    speaker: 'agent' | 'user' | 'system';
    /**
     * Seconds since the call began.
     */
    timestamp?: number;
    /**
     * Whether the utterance was still being transcribed.
     */
    is_partial?: boolean;
    /**
     * Seconds since 1970.
     */
    created_at?: number;
    [k: string]: unknown;
  }[];
  /**
   * Entries of the transcript.
   */
  entry_count?: number;
  /**
   * Seconds.
   */
  call_duration?: number;
  /**
   * When it began.
   */
  call_started_at?: string;
  /**
   * When it ended.
   */
  call_ended_at?: string;
  /**
   * About the session that carried the call.
   */
  session_data?: {
    /**
     * Its room.
     */
    room_name?: string;
    /**
     * Its agent.
     */
    agent_id?: string;
    /**
     * Entries with partial ones.
     */
    total_entries?: number;
    /**
     * Entries without partial ones.
     */
    final_entries?: number;
    /**
     * The caller's phone number.
     */
    caller_id?: string;
    [k: string]: unknown;
  };
  /**
   * Summary in Markdown: topic, summary, action items and sentiment.
   */
  summary_text?: string;
  /**
   * Presigned address of the recording where there is one; it may have expired.
   */
  recording_url?: string;
  /**
   * When the log was written.
   */
  created_at?: string;
  /**
   * When it was changed last.
   */
  updated_at?: string;
  [k: string]: unknown;
}
/**
 * Who the session is for.
 */
export interface SessionRequest {
  /**
   * The profile.
   */
  profile_id: string;
  /**
   * The user's id in the application.
   */
  user_id?: string;
  [k: string]: unknown;
}
/**
 * A session of an embedding application.
 */
export interface Session {
  /**
   * The session token.
   */
  token: string;
  /**
   * When it ends.
   */
  expires_at: string;
  [k: string]: unknown;
}
/**
 * Who the session is for.
 */
export interface PbxSessionRequest {
  /**
   * The profile.
   */
  profile_id: string;
  /**
   * The user base claim at the PBX provider.
   */
  claim_id: string;
  /**
   * The user's id in the application.
   */
  user_id?: string;
  [k: string]: unknown;
}
/**
 * A code and a sentence.
 */
export interface CodedError {
  /**
   * The code.
   */
  error: string;
  /**
   * What is wrong, in words.
   */
  error_description?: string;
  [k: string]: unknown;
}
/**
 * Violations with paths as lists.
 */
export interface SchemaError {
  /**
   * Names the form.
   */
  error: 'Invalid request data';
  /**
   * One entry a violation.
   */
  details: {
    /**
     * Kind of violation.
     */
    code: string;
    /**
     * Format that was missed.
     */
    validation?: string;
    /**
     * Type that was wanted.
     */
    expected?: string;
    /**
     * Type that came.
     */
    received?: string;
    /**
     * Where, as keys and indexes.
     */
    path: (string | number)[];
    /**
     * What is wrong.
     */
    message: string;
    [k: string]: unknown;
  }[];
  [k: string]: unknown;
}
/**
 * Violations under `issues`.
 */
export interface IssuesError {
  /**
   * Names the form.
   */
  error: 'validation_error';
  issues: FieldIssue[];
  [k: string]: unknown;
}
/**
 * One field's violation.
 */
export interface FieldIssue {
  /**
   * Where, with dots between keys.
   */
  path: string;
  /**
   * What is wrong.
   */
  message: string;
  [k: string]: unknown;
}
/**
 * Violations with paths as text.
 */
export interface DetailsError {
  /**
   * Names the form.
   */
  error: 'invalid_request';
  /**
   * What is wrong, in words.
   */
  error_description?: string;
  details: FieldIssue[];
  [k: string]: unknown;
}
/**
 * One member, a code or a sentence.
 */
export interface FlatError {
  /**
   * The code or the sentence.
   */
  error: string;
  [k: string]: unknown;
}
/**
 * Names the source that is there already.
 */
export interface DuplicateSource {
  /**
   * The code.
   */
  error: 'duplicate_source';
  /**
   * What is wrong, in words.
   */
  error_description?: string;
  /**
   * What is there.
   */
  details: {
    /**
     * The source that has the page or the document.
     */
    existingSource: {
      /**
       * The source's id.
       */
      id: string;
      /**
       * Its name.
       */
      name?: string | null;
      /**
       * State of its ingestion.
       */
      status?: string;
      [k: string]: unknown;
    };
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
