"use strict";
(function () {
  var hosts = Array.prototype.slice.call(document.querySelectorAll(".plot"));
  hosts.forEach(function (host) {
    var source = document.getElementById(host.dataset.source);
    var figure = JSON.parse(source.textContent);
    Plotly.newPlot(host, figure.data, figure.layout, {
      displaylogo: false,
      displayModeBar: "hover",
      modeBarButtons: [["toImage", "zoom2d", "pan2d", "resetScale2d"]],
      plotlyServerURL: "",
      responsive: true,
      showSendToCloud: false
    });
  });
  window.addEventListener("beforeprint", function () {
    document.querySelectorAll("details").forEach(function (part) {
      part.dataset.open = part.open ? "yes" : "no";
      part.open = true;
    });
    hosts.forEach(function (host) {
      Plotly.relayout(host, { width: 690 });
    });
  });
  window.addEventListener("afterprint", function () {
    document.querySelectorAll("details").forEach(function (part) {
      part.open = part.dataset.open === "yes";
    });
    hosts.forEach(function (host) {
      Plotly.relayout(host, { width: null, autosize: true });
    });
  });
})();
