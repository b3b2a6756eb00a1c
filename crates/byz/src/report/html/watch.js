// What goes wrong in the page is told on its root element.
(function () {
  'use strict';
  var root = document.documentElement;
  function tell(words) {
    root.setAttribute('data-errors', (root.getAttribute('data-errors') || '') + words + '\n');
  }
  window.addEventListener('error', function (event) { tell(event.message); });
  window.addEventListener('unhandledrejection', function (event) { tell(String(event.reason)); });
  var error = console.error;
  console.error = function () {
    tell(Array.prototype.join.call(arguments, ' '));
    error.apply(console, arguments);
  };
})();
