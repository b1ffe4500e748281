/** Resellers of a generated account. */
export const RESELLERS = [
  'Tidewater Communications',
  'Summit Voice',
  'Beacon Partners',
  'Larkfield Telecom',
];

/** Organizations of a generated account, with the language that they answer in. */
export const COMPANIES = [
  { name: 'Harbor Dental', language: 'en-US' },
  { name: 'Northside Physio', language: 'en-US' },
  { name: 'Cedar Hardware', language: 'en-US' },
  { name: 'Elm Street Legal', language: 'en-US' },
  { name: 'Clínica del Sol', language: 'es-US' },
  { name: 'Orchard Homes', language: 'en-US' },
  { name: 'Copper Kettle Kitchen', language: 'en-US' },
  { name: 'Brightside Care Line', language: 'en-US' },
  { name: 'Lakeview Vets', language: 'en-US' },
  { name: 'Fernhill Pharmacy', language: 'multi' },
  { name: 'Quarry Road Garage', language: 'en-US' },
  { name: 'Meridian Helpdesk', language: 'en-US' },
  { name: 'Librería Aurora Books', language: 'es-US' },
  { name: 'Stonebridge Lettings', language: 'en-US' },
  { name: 'Maple Insurance', language: 'en-US' },
  { name: 'Riverside Health', language: 'multi' },
] as const;

export const TIME_ZONES = [
  'America/New_York',
  'America/Chicago',
  'America/Denver',
  'America/Los_Angeles',
];

/** Who changes agents in the dashboard. */
export const PEOPLE = ['user:anna.keller', 'user:ben.ito', 'user:chloe.martin', 'user:support'];
