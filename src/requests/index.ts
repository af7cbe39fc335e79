export { Requests } from './requests.js';
