"""Addresses of the pages. Each name has its verbs in `clusters_app/access.py`."""

from django.urls import path

from .views import accounts, fleet

urlpatterns = [
    path("sign-in/", accounts.sign_in, name="sign-in"),
    path("first-run/<str:value>/", accounts.first_run, name="first-run"),
    path("sign-out/", accounts.sign_out, name="sign-out"),
    path("account/", accounts.account, name="account"),
    path("", fleet.fleet, name="fleet"),
]
