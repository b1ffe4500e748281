import type { SettingsField } from './settings-field.ts';

const freezeWindow: SettingsField = {
  type: 'object',
  additionalProperties: false,
  required: ['zone'],
  anyOf: ['weekdays', 'hours', 'dates'].map((name) => ({ required: [name] })),
  description:
    'A stretch of time in which nothing is written. It lasts while all that is given holds; weekdays and dates name the day on which it begins.',
  examples: [{ reason: 'Weekend', zone: 'America/New_York', weekdays: ['sat', 'sun'] }],
  properties: {
    zone: {
      type: 'string',
      format: 'iana-timezone',
      description: 'IANA time zone whose clock and calendar count.',
      examples: ['America/New_York'],
    },
    weekdays: {
      type: 'array',
      minItems: 1,
      items: {
        type: 'string',
        enum: ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'],
        description: 'A day of the week.',
        examples: ['fri'],
      },
      description: 'Days of the week on which it begins; every day where absent.',
      examples: [['fri', 'sat']],
    },
    hours: {
      type: 'string',
      format: 'freeze-hours',
      description:
        'From when to when. What ends before it begins ends on the next day; the whole day where absent.',
      examples: ['09:00-17:00', '22:00-06:00'],
    },
    dates: {
      type: ['string', 'array'],
      minItems: 1,
      format: 'freeze-dates',
      items: {
        type: 'string',
        format: 'freeze-dates',
        description: 'A day, or the first and the last of several.',
        examples: ['2026-12-24', '2026-12-20..2027-01-06'],
      },
      description: 'Days on which it begins, single ones or spans; every day where absent.',
      examples: [['2026-11-26', '2026-12-20..2027-01-06']],
    },
    reason: {
      type: 'string',
      'x-local': true,
      description: 'What it is for; what a refused plan shows.',
      examples: ['Holiday season'],
    },
  },
};

/** `guards:` of callsheet.yaml. */
export const guardsSchema: SettingsField = {
  type: 'object',
  additionalProperties: false,
  description: 'Limits that a plan must stay within.',
  examples: [{ max_delete: 5, max_change_percent: 30 }],
  properties: {
    max_delete: {
      type: 'integer',
      minimum: 0,
      description: 'Most resources that one plan may delete.',
      examples: [5],
    },
    max_change_percent: {
      type: 'number',
      minimum: 0,
      maximum: 100,
      description:
        'Largest share of the existing resources that one plan may change, replace or delete.',
      examples: [30],
    },
    min_resources: {
      type: 'integer',
      minimum: 0,
      default: 10,
      description:
        'Below this many existing resources `max_change_percent` does not count: one change of three is 33 % already.',
      examples: [20],
    },
    freeze: {
      type: 'array',
      items: freezeWindow,
      description:
        'Windows in which apply and rollback write nothing unless --override-freeze says why.',
      examples: [[{ reason: 'Weekend', zone: 'America/New_York', weekdays: ['sat', 'sun'] }]],
    },
  },
};
