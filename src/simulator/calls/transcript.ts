import { seedChance } from '../ids.ts';
import { type Call, type CallBook, escalatedAfter } from './call.ts';

/**
 * Phrases by language: words for `{name}` and `{matter}`; the first sentence of the agent; then caller and agent in
 * turns; the answer to a caller who wants a person; and by outcome the topic, the summary and the follow-up.
 */
const PHRASES = {
  en: {
    names: ['Emily Carter', 'Daniel Brooks', 'Priya Nair', 'Rosa Delgado', 'Tom Whitaker'],
    matters: ['an appointment', 'a bill', 'an order', 'a lost password'],
    inbound: '{company}, how can I help you?',
    outbound: 'Hello, this is {company}. We are calling about {matter}.',
    turns: [
      'Hello, this is {name}. I hope that you can help me with {matter}.',
      'Of course, {name}. May I have the number that you were given?',
      'It is {number}, and any day of next week would be fine for me.',
      'Thank you, {name}. I have noted that for {number}.',
    ],
    handover: 'I will put you through to a person, {name}.',
    resolved: ['Call about {matter}', 'The agent settled it for {name}.', 'Write to {name}.'],
    transferred: ['Call about {matter}', '{name} wanted to talk to a person.', 'Call {name} back.'],
    abandoned: ['Caller hung up early', 'Nobody said what the call was about.', 'None'],
    other: ['Call without a talk', 'The agent was the only one who spoke.', 'None'],
  },
  es: {
    names: ['María López', 'Javier Ortega', 'Lucía Romero', 'Carlos Méndez', 'Elena Vargas'],
    matters: ['una cita', 'una factura', 'un pedido', 'una contraseña perdida'],
    inbound: '{company}, ¿en qué puedo ayudarle?',
    outbound: 'Hola, le llamamos de {company} por {matter}. ¿Tiene un momento?',
    turns: [
      'Hola, soy {name}. Espero que me pueda ayudar con {matter}.',
      'Claro que sí, {name}. ¿Me dice el número que le dieron?',
      'Es el {number}, y cualquier día de la próxima semana me vendría bien.',
      'Gracias, {name}. Lo he apuntado para el {number}.',
    ],
    handover: 'Ahora le paso con una persona, {name}.',
    resolved: ['Llamada por {matter}', 'El agente lo resolvió para {name}.', 'Escribir a {name}.'],
    transferred: ['Llamada por {matter}', '{name} quería una persona.', 'Llamar a {name}.'],
    abandoned: ['Llamada muy corta', 'Nadie dijo por qué llamaba.', 'Ninguna'],
    other: ['Llamada sin conversación', 'Solo habló el agente.', 'Ninguna'],
  },
} as const;

/** A sentence or an event, and the seconds into the call. */
type Line = readonly [speaker: 'agent' | 'user' | 'system', text: string, at: number];

/**
 * Writes a call down, the same every time: the entries of its transcript, and its summary in Markdown (Call log).
 * `failure` is how entries say that the webhook `{name}` failed.
 */
export function writeTranscript(book: CallBook, call: Call, failure: string) {
  const { outcome, reason, startedAt, duration, sentiment, agent, failed } = call;
  const chance = seedChance(call.number, 10);
  const words = PHRASES[chance.pick(agent.languages)];
  const slots = {
    company: book.company,
    name: chance.pick(words.names),
    matter: chance.pick(words.matters),
    number: String(chance.between(10_000, 99_999)),
  };
  const hooks = (condition: string, at: number) =>
    agent.webhooks
      .filter((hook) => hook.condition === condition)
      .map(({ name, method }): Line => {
        const ran = `Webhook {name} (${condition}) executed: ${method} answered 200`;
        return ['system', fill(name === failed ? failure : ran, { name }), at];
      });

  const isTransferred = outcome === 'transferred';
  const spokenUntil = isTransferred ? escalatedAfter(call) : Math.max(0, duration - 1);
  const { inbound, outbound, turns, handover } = words;
  const said = { resolved: turns, transferred: [turns[0], handover], abandoned: [], other: [] };
  const silence = book.isOutbound ? 'voicemail' : 'inactivity timeout';
  const ending = outcome === 'other' ? silence : isTransferred ? outcome : 'caller hung up';
  const spoken = [book.isOutbound ? outbound : inbound, ...said[outcome]];
  const transfer: readonly Line[] = [
    ['system', `Transfer requested: ${reason}`, spokenUntil],
    ['system', 'Transfer completed', Math.min(spokenUntil + 4, duration)],
  ];
  const lines: readonly Line[] = [
    ...hooks('before_call', 0),
    ...spoken.map((text, index): Line => {
      const at = (spokenUntil * index) / spoken.length;
      return [index % 2 === 0 ? 'agent' : 'user', fill(text, slots), at];
    }),
    ...hooks('during_call', spokenUntil),
    ...(isTransferred ? transfer : []),
    ['system', `Call ended: ${ending}`, duration],
    ...hooks('after_call', duration),
  ];
  // The first words of a caller are heard before the last ones.
  const entries = lines.flatMap(([speaker, text, at]) => {
    const timestamp = Math.round(at * 10) / 10;
    const created_at = Math.round(startedAt / 100 + timestamp * 10) / 10;
    const whole = { text, speaker, timestamp, is_partial: false, created_at };
    const part = { ...whole, text: text.slice(0, text.lastIndexOf(' ')), is_partial: true };
    return speaker === 'user' ? [part, whole] : [whole];
  });
  const [topic, details, task] = words[outcome];
  const summary = `## ${topic}\n\n${details}\n\n### Action Items\n- ${task}\n\n**Sentiment:** ${sentiment}`;
  return { entries, summary: fill(summary, slots) };
}

function fill(text: string, slots: { readonly [slot: string]: string }): string {
  return text.replaceAll(/\{(\w+)\}/g, (slot, name: string) => slots[name] ?? slot);
}
