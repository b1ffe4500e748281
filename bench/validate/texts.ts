/** The stacks of the benchmark are made of these texts. Everything follows from a number. */
export const MAIN = `callsheet: 1
platform: { base_url: "https://api.example.test" }
organizations: { group: 3c6e0b8a-9c15-4f1d-9f0e-5d2b7f1a2c11 }
organization: group
variables: { crm_url: { default: https://crm.example.test/v1 } }
lint: { tokens: [caller_name] }
`;

export const TOWNS = ['Alder Bay', 'Birch Hill', 'Cedar Point', 'Dune Park', 'Elm Grove'];
const ZONES = ['America/New_York', 'America/Chicago', 'America/Denver', 'America/Los_Angeles'];
const SPEEDS = ['0.9', '1', '1.05', '1.1'];

function pick<T>(values: readonly T[], index: number): T {
  return values[index % values.length] as T;
}

function phone(index: number): string {
  return `+1207${String(5_550_000 + index)}`;
}

export const COLUMNS = 'slug,town,place,timezone,desk_phone,speed,hours,greeting';

export function tableRow(index: number): string {
  const greeting = index % 3 === 0 ? `"Hello, this is clinic ${index}. How can I help?"` : '';
  const speed = index % 2 === 0 ? pick(SPEEDS, index) : '';
  return [
    `clinic-${index}`,
    pick(TOWNS, index),
    `Station ${index}`,
    pick(ZONES, index),
    phone(index),
    speed,
    'Monday to Friday 8 to 5',
    greeting,
  ].join(',');
}

/** About 4 KB, as prompts have. */
export function promptText(seed: number, place: string): string {
  const rules = Array.from(
    { length: 30 },
    (_, index) =>
      `${index + 1}. When a caller asks about subject ${(seed + index) % 97}, answer in two sentences, and offer to send the details by text message.\n`,
  );
  return `# Front desk ${seed}

You answer the phone at ${place} for {{caller_name|the caller}}. Use the crm_lookup tool to find a record by name and date of birth.

## How you speak
${rules.join('')}
Never give medical advice. Put whoever asks for a person through to the desk.
`;
}

const TOOLS = `      tools:
        - type: webhook
          name: crm_lookup
          friendlyName: CRM lookup
          description: Finds a patient by name and date of birth.
          condition: during_call
          method: GET
          url: \${var.crm_url}/patients
          headers: [{ key: X-Api-Key, value: { $secret: env:CRM_BENCH_KEY } }]
`;

export function basesFile(): string {
  return `bases:
  group:
    status: active
    model: alpha-4.1-mini
    voice_settings: { speed: 1.05 }
    config: { inactivity_timeout: 20 }
    enable_recording: true
    echo_detection: true
    extensions:
${TOOLS}
  front_desk:
    base: group
    agent_type: receptionist
    transfer_enabled: true
    transfer_rules: Whoever asks for a person goes to the front desk.
    greeting_message: Thank you for calling. How can I help?
    extensions:
      tools:
        - type: webhook
          name: request_visit
          friendlyName: Request a visit
          description: Asks the desk for a visit; the desk confirms it by text.
          condition: during_call
          method: POST
          url: \${var.crm_url}/visit-requests
          headers: [{ key: X-Api-Key, value: { $secret: env:CRM_BENCH_KEY } }]
          parameters: [{ key: source, value: phone }]
`;
}

/** An agent that is written out over a base. */
export function basedAgent(index: number, prompt: string): string {
  return `  clinic_${index}:
    base: front_desk
    name: ${pick(TOWNS, index)}, clinic ${index}
    language: en-US
    timezone: ${pick(ZONES, index)}
    greeting_message: Thank you for calling ${pick(TOWNS, index)}, clinic ${index}. How can I help?
    voice_settings: { speed: ${pick(SPEEDS, index)} }
    transfer_rules: "Whoever asks for a person: ${phone(index)}, the front desk."
    system_prompt: { $file: ${prompt} }
`;
}

/** Agents of a table. */
export function tableAgent(name: string, rows: string, template: string): string {
  return `  ${name}:
    for_each: { $file: ${rows} }
    key: \${each.slug}
    base: front_desk
    name: \${each.town}, \${each.place}
    language: en-US
    timezone: \${each.timezone}
    greeting_message: \${each.greeting}
    voice_settings: { speed: "\${each.speed}" }
    transfer_rules: "Whoever asks for a person: \${each.desk_phone}, the front desk."
    system_prompt:
      $template: ${template}
      with: { place: "\${each.place}" }
`;
}

/** An agent that says everything itself. */
export function plainAgent(index: number): string {
  const lines = promptText(index, `clinic ${index}`).trimEnd().split('\n');
  const prompt = lines.map((line) => (line === '' ? '' : `      ${line}`)).join('\n');
  return `  clinic_${index}:
    name: ${pick(TOWNS, index)}, clinic ${index}
    agent_type: receptionist
    status: active
    model: alpha-4.1-mini
    language: en-US
    timezone: ${pick(ZONES, index)}
    greeting_message: Thank you for calling ${pick(TOWNS, index)}, clinic ${index}. How can I help?
    voice_settings: { speed: ${pick(SPEEDS, index)} }
    config: { inactivity_timeout: 20 }
    enable_recording: true
    echo_detection: true
    transfer_enabled: true
    transfer_rules: "Whoever asks for a person: ${phone(index)}, the front desk."
    system_prompt: |
${prompt}
    extensions:
${TOOLS}`;
}
